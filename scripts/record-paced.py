#!/usr/bin/env python3
"""Runs the logic tests on a real Flink that gets their rows one by one: record-paced.py DIR GATEWAY REST [REGEX]

DIR holds what `go test -run TestLogicForFlink -flink DIR .` wrote; GATEWAY is the address of a SQL gateway, REST that of the cluster
that it submits to. Tables watch a directory; rows are put there in the order of the script, with a pause behind each, so that the
order over several tables is that of the test. Then the jobs are drained: a last watermark comes. Tests with the same rows run side
by side. What Flink gave goes to DIR/recorded.json with "paced" set, which `go test -run TestLogicForFlink -recorded` compares row
for row.
"""
import collections, importlib.util, json, os, re, shutil, sys, time

spec = importlib.util.spec_from_file_location('record', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'record-logic.py'))
record = importlib.util.module_from_spec(spec)
spec.loader.exec_module(record)
call, Refused, cause = record.call, record.Refused, record.cause

PAUSE = float(os.environ.get('PAUSE', '1'))
KINDS = {'INSERT': '+I', 'UPDATE_BEFORE': '-U', 'UPDATE_AFTER': '+U', 'DELETE': '-D'}
SETTINGS = ["SET 'parallelism.default' = '1'", "SET 'table.local-time-zone' = 'UTC'", "SET 'execution.buffer-timeout.interval' = '1 ms'"]


class Running(record.Session):
    """One query that runs while rows come."""

    def start(self, test, where, shared):
        self.rows, self.error, self.job, self.path = [], '', '', ''
        try:
            for sql in SETTINGS + test['setup']:
                sql = re.sub(r"'path' = '[^']*-(\w+)'", lambda m: "'source.monitor-interval' = '50 ms', 'path' = '%s/%s'" % (shared, m[1]), sql)
                self.execute(sql)
            r = call(self.base, 'POST', f'/sessions/{self.id}/statements', {'statement': test['query']})
            self.path = f"/sessions/{self.id}/operations/{r['operationHandle']}/result/0?rowFormat=PLAIN_TEXT"
            while not self.job and self.path:
                self.fetch()
        except Refused as e:
            self.error = str(e)

    def fetch(self):
        r = call(self.base, 'GET', self.path)
        if 'errors' in r:
            raise Refused(cause(r['errors']))
        self.job = self.job or r.get('jobID', '')
        data = r.get('results', {}).get('data', [])
        for d in data:
            self.rows.append([KINDS[d['kind']], ['<NULL>' if c is None else c for c in d['fields']]])
        if r.get('resultType') != 'NOT_READY':
            path = r.get('nextResultUri')
            self.path = path and path[path.index('/sessions'):]
        if not data:
            time.sleep(0.05)

    def finish(self):
        start = time.time()
        try:
            while self.path:
                if time.time() - start > record.LIMIT:
                    raise Refused('it did not end')
                self.fetch()
        except Refused as e:
            self.error = str(e)


def state(rest, job):
    j = call(rest, 'GET', f'/jobs/{job}')
    return j['state'] if j['state'] != 'RUNNING' or all(v['status'] == 'RUNNING' for v in j['vertices']) else 'STARTING'


def group(base, rest, where, name, tests):
    """Runs tests that have the same rows."""
    shared = os.path.join(where, 'paced-' + name)
    shutil.rmtree(shared, ignore_errors=True)
    feed = tests[0]['feed']
    for table in {m for t in tests for sql in t['setup'] for m in re.findall(r"'path' = '[^']*-(\w+)'", sql)}:
        os.makedirs(os.path.join(shared, table))
    jobs = []
    for t in tests:
        jobs.append((t, Running(base)))
        jobs[-1][1].start(t, where, shared)
    live = [s for _, s in jobs if s.job and not s.error]
    for s in live:
        while state(rest, s.job) in ('STARTING', 'CREATED', 'INITIALIZING'):
            time.sleep(0.1)
    time.sleep(4)  # the first rows are slow
    for i, row in enumerate(feed):
        path = os.path.join(shared, row['table'], '.%05d' % i)
        with open(path, 'w') as f:
            f.write(row['text'])
        os.rename(path, os.path.join(shared, row['table'], '%05d' % i))
        time.sleep(PAUSE)
    time.sleep(1)
    for s in live:
        if state(rest, s.job) == 'RUNNING':
            call(rest, 'POST', f'/jobs/{s.job}/stop', {'drain': True, 'targetDirectory': 'file://' + os.path.join(where, 'savepoints')})
    for t, s in jobs:
        if s.path and not s.error:
            s.finish()
        s.close()
        r = {'name': t['name'], 'paced': True, 'changes': s.rows}
        if s.error:
            r['error'] = s.error
        print(t['name'], s.error[:200], len(s.rows), flush=True)
        yield r


def main():
    where, base, rest = sys.argv[1:4]
    only = re.compile(sys.argv[4] if len(sys.argv) > 4 else '')
    path = os.path.join(where, 'recorded.json')
    done = {r['name']: r for r in json.load(open(path))} if os.path.exists(path) else {}
    groups = collections.OrderedDict()
    for t in json.load(open(os.path.join(where, 'tests.json'))):
        if only.search(t['name']):
            script = t['name'].split('/')[0]
            groups.setdefault((script, json.dumps(t['feed'])), []).append(t)
    for n, ((script, _), tests) in enumerate(groups.items()):
        for at in range(0, len(tests), 30):
            for r in group(base, rest, where, f'{script}{n}x{at}', tests[at:at + 30]):
                done[r['name']] = r
            json.dump(list(done.values()), open(path, 'w'), indent=1)


main()
