#!/usr/bin/env python3
"""Runs the logic tests on a real Flink: record-logic.py DIR GATEWAY [REGEX]

DIR holds what `go test -run TestLogicForFlink -flink DIR .` wrote; GATEWAY is the address of a SQL gateway, for example
http://localhost:8083. What Flink gave goes to DIR/recorded.json, which `go test -run TestLogicForFlink -recorded` reads.
"""
import json, os, re, sys, time, urllib.error, urllib.request

LIMIT = 60  # seconds that a query may take


def call(base, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    req = urllib.request.Request(base + path, method=method, data=data, headers={'Content-Type': 'application/json'})
    try:
        with urllib.request.urlopen(req, timeout=120) as f:
            return json.load(f)
    except urllib.error.HTTPError as e:
        return json.loads(e.read())


class Refused(Exception):
    pass


def cause(errors):
    text = '\n'.join(errors)
    found = re.findall(r'Caused by: (.*?)(?=\n\tat |\n\nEnd|\Z)', text, re.S)
    return found[-1] if found else text


class Session:
    def __init__(self, base):
        self.base = base + '/v2'
        self.id = call(self.base, 'POST', '/sessions', {})['sessionHandle']

    def execute(self, sql):
        r = call(self.base, 'POST', f'/sessions/{self.id}/statements', {'statement': sql})
        if 'errors' in r:
            raise Refused(cause(r['errors']))
        op, rows, start = r['operationHandle'], [], time.time()
        path = f'/sessions/{self.id}/operations/{op}/result/0?rowFormat=PLAIN_TEXT'
        while path:
            if time.time() - start > LIMIT:
                call(self.base, 'POST', f'/sessions/{self.id}/operations/{op}/cancel')
                raise Refused('it did not end')
            r = call(self.base, 'GET', path)
            if 'errors' in r:
                raise Refused(cause(r['errors']))
            data = r.get('results', {}).get('data', [])
            for d in data:
                kind = {'INSERT': '+I', 'UPDATE_BEFORE': '-U', 'UPDATE_AFTER': '+U', 'DELETE': '-D'}[d['kind']]
                rows.append([kind, ['<NULL>' if c is None else c for c in d['fields']]])
            if not data:
                time.sleep(0.03)
            if r.get('resultType') != 'NOT_READY':
                path = r.get('nextResultUri')
                path = path and path[path.index('/sessions'):]
        return rows

    def close(self):
        call(self.base, 'DELETE', f'/sessions/{self.id}')


def run(base, test, batch):
    s = Session(base)
    try:
        for sql in ["SET 'parallelism.default' = '1'", "SET 'table.local-time-zone' = 'UTC'"] + test['setup']:
            s.execute(sql)
        if batch:
            s.execute("SET 'execution.runtime-mode' = 'batch'")
        return s.execute(test['query'])
    finally:
        s.close()


def main():
    where, base = sys.argv[1:3]
    only = re.compile(sys.argv[3] if len(sys.argv) > 3 else '')
    path = os.path.join(where, 'recorded.json')
    done = {r['name']: r for r in json.load(open(path))} if os.path.exists(path) else {}
    for test in json.load(open(os.path.join(where, 'tests.json'))):
        if not only.search(test['name']):
            continue
        r = done[test['name']] = {'name': test['name']}
        try:
            r['changes'] = run(base, test, False)
        except Refused as e:
            r['error'] = str(e)
        try:
            if test['batch']:
                r['batch'] = run(base, test, True)
        except Refused as e:
            print('batch:', str(e)[:200])  # more may run in batch mode here than there
        print(test['name'], r.get('error', '')[:200], len(r.get('changes', [])), flush=True)
        json.dump(list(done.values()), open(path, 'w'), indent=1)


if __name__ == '__main__':
    main()
