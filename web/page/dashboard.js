'use strict';
// The dashboard: asks the REST interface every few seconds and draws what it says. Text goes into the page as text, never as markup.

const none = '-9223372036854775808';
const main = document.getElementById('main');
let every = 3000, offset = 0, timer = 0, turn = 0;

function el(name, attrs, ...children) {
  const svg = ['svg', 'g', 'rect', 'path', 'text', 'title', 'defs', 'marker'].includes(name) && attrs && attrs.svg !== false;
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [k, v] of Object.entries(attrs || {})) {
    if (k === 'svg') continue;
    if (k === 'onclick') e.addEventListener('click', v); else e.setAttribute(k, v);
  }
  e.append(...children.filter(c => c !== null && c !== undefined).map(c => c instanceof Node ? c : String(c)));
  return e;
}

async function ask(path, options) {
  const r = await fetch(path, options);
  const body = await r.json();
  if (!r.ok) throw new Error((body.errors || [r.statusText])[0].split('\n')[0].replace(/^[\w.]+: /, ''));
  return body;
}

const count = n => Number(n).toLocaleString('en-US');
const tag = state => el('span', {class: 'tag ' + state}, state);
const clock = ms => ms > 0 ? new Date(ms).toLocaleString('sv-SE') : '';
function span(ms) {
  const s = Math.floor(ms / 1000);
  if (ms < 1000) return ms + ' ms';
  if (s < 60) return (ms / 1000).toFixed(1) + ' s';
  if (s < 3600) return Math.floor(s / 60) + ' min ' + s % 60 + ' s';
  return Math.floor(s / 3600) + ' h ' + Math.floor(s / 60) % 60 + ' min';
}
function size(n) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let u = 0;
  for (; n >= 1024 && u < units.length - 1; u++) n /= 1024;
  return (u ? n.toFixed(1) : n) + ' ' + units[u];
}

function table(heads, rows, empty) {
  if (!rows.length) return el('p', {class: 'note'}, empty);
  const cell = (kind, h, c) => el(kind, h.startsWith('#') ? {class: 'n'} : h.startsWith('/') ? {class: 'path'} : {}, c);
  return el('div', {class: 'card'}, el('table', {},
    el('thead', {}, el('tr', {}, ...heads.map(h => cell('th', h.startsWith('/') ? h.slice(1) : h, h.replace(/^[#/]/, ''))))),
    el('tbody', {}, ...rows.map(r => el('tr', {}, ...r.map((c, i) => cell('td', heads[i], c)))))));
}

// Overview

async function overview() {
  const {jobs} = await ask('jobs/overview');
  jobs.sort((a, b) => b['start-time'] - a['start-time']);
  const live = j => j['end-time'] < 0;
  const rows = list => list.map(j => [tag(j.state), el('a', {href: '#/job/' + j.jid}, j.name), clock(j['start-time']), span(j.duration),
    j.tasks.running + ' of ' + j.tasks.total, j.jid]);
  const heads = ['State', 'Job', 'Start', '#Duration', '#Tasks running', '/Id'];
  return [el('h2', {}, 'Running jobs'), table(heads, rows(jobs.filter(live)), 'No job is running. INSERT INTO and SELECT in the shell start some.'),
    el('h2', {}, 'Ended jobs'), table(heads, rows(jobs.filter(j => !live(j))), 'None yet.')];
}

// A job

const seen = new Map();

async function vertexNumbers(id, v) {
  const subtasks = [...Array(v.parallelism).keys()];
  const parts = v.name.split(' -> ').filter(p => !p.endsWith(': Committer')).map(p => p.replaceAll(' ', '_'));
  const first = parts[0], last = parts[parts.length - 1], sink = last.endsWith(':_Writer');
  const names = ['numRecordsInPerSecond', 'numRecordsOutPerSecond', 'currentInputWatermark', 'currentOutputWatermark',
    first + '.numRecordsOut', last + '.numRecordsIn'];
  const get = subtasks.flatMap(i => names.map(n => i + '.' + n)).map(encodeURIComponent).join(',');
  const values = {};
  for (const m of await ask('jobs/' + id + '/vertices/' + v.id + '/metrics?get=' + get)) values[m.id] = m.value;
  const all = n => subtasks.map(i => values[i + '.' + n]).filter(x => x !== undefined);
  const sum = n => all(n).reduce((a, x) => a + Number(x), 0);
  const marks = v.source ? all(names[3]) : all(names[2]);
  // What a source reads and a sink writes does not pass between vertices: its rate is over the time since the page was drawn last.
  const now = {at: Date.now(), read: sum(names[4]), written: sum(names[5])}, then = seen.get(v.id) || now;
  const rate = what => now.at > then.at ? (now[what] - then[what]) * 1000 / (now.at - then.at) : 0;
  seen.set(v.id, now);
  return {
    inRate: v.source ? rate('read') : sum(names[0]), outRate: sink ? rate('written') : sum(names[1]),
    from: v.source ? count(now.read) + ' read' : count(v.metrics['read-records']) + ' in',
    to: sink ? count(now.written) + ' written' : count(v.metrics['write-records']) + ' out',
    watermark: !marks.length || marks.includes(none) ? null : Math.min(...marks.map(Number)),
  };
}

// A watermark at the end of time says that the input has ended.
function watermark(n, now) {
  if (n.watermark === null) return 'none';
  if (n.watermark > 8.64e15) return 'end';
  const behind = now - n.watermark;
  const at = new Date(n.watermark).toISOString().replace('T', ' ').replace('Z', '');
  return behind > 0 && behind < 864e5 ? at.slice(11) + ' (' + span(behind) + ' behind)' : at;
}

const cut = (s, n) => s.length > n ? s.slice(0, n - 1) + '…' : s;

// graph draws the vertices from left to right, each behind all of its inputs.
function graph(job, numbers) {
  const nodes = new Map(job.plan.nodes.map(n => [n.id, n])), vertex = new Map(job.vertices.map(v => [v.id, v]));
  const layerOf = new Map();
  const layer = id => {
    if (!layerOf.has(id)) layerOf.set(id, Math.max(-1, ...(nodes.get(id).inputs || []).map(i => layer(i.id))) + 1);
    return layerOf.get(id);
  };
  const width = 272, gapX = 80, gapY = 24, line = 17, at = new Map(), heights = [];
  for (const v of job.vertices) {
    const lines = v.name.split(' -> '), l = layer(v.id);
    const h = (lines.length + 5) * line + 14;
    at.set(v.id, {x: 12 + l * (width + gapX), y: (heights[l] || 12), h, lines});
    heights[l] = (heights[l] || 12) + h + gapY;
  }
  let deep = 0;
  const tall = Math.max(...heights.filter(h => h)) - gapY + 12, parts = [];
  for (const p of at.values()) p.y += (tall + gapY - 12 - heights[Math.round((p.x - 12) / (width + gapX))]) / 2;
  for (const n of nodes.values()) {
    for (const i of n.inputs || []) {
      const a = at.get(i.id), b = at.get(n.id), k = n.inputs.indexOf(i);
      const y1 = a.y + a.h / 2, y2 = b.y + b.h * (k + 1) / (n.inputs.length + 1), x1 = a.x + width, x2 = b.x - 6, mid = (x1 + x2) / 2;
      // An edge past other vertices goes below them.
      const far = layer(n.id) - layer(i.id) > 1, low = tall + 4;
      if (far) deep = 22;
      parts.push(el('path', {class: 'edge', 'marker-end': 'url(#tip)', d: far ? `M${x1},${y1} C${x1 + 40},${y1} ${x1 + 20},${low} ${x1 + gapX},${low} L${x2 - gapX},${low} C${x2 - 20},${low} ${x2 - 40},${y2} ${x2},${y2}` :
        `M${x1},${y1} C${mid},${y1} ${mid},${y2} ${x2},${y2}`}));
      if (far) { parts.push(el('text', {class: 'ship', x: x1 + gapX, y: low + 13}, i.ship_strategy)); continue; }
      parts.push(el('text', {class: 'ship', x: mid, y: (y1 + y2) / 2 + (y2 > y1 ? 15 : -6), 'text-anchor': 'middle'}, i.ship_strategy));
    }
  }
  for (const [id, p] of at) {
    const v = vertex.get(id), n = numbers.get(id);
    const facts = ['Parallelism: ' + v.parallelism, 'Backpressured (max): ' + v.load.backpressured, 'Busy (max): ' + v.load.busy,
      'Records: ' + n.from + ', ' + n.to, 'Watermark: ' + watermark(n, job.now)];
    const text = p.lines.map(s => ['name', cut(s, 36)]).concat(facts.map(s => ['', s]));
    parts.push(el('g', {}, el('title', {}, (nodes.get(id).description || v.name).replaceAll('<br/>', '\n')),
      el('rect', {x: p.x, y: p.y, width, height: p.h, rx: 6, fill: v.load.colour}),
      ...text.map(([cls, s], i) => el('text', {class: cls, style: 'fill:' + v.load.ink, x: p.x + 12, y: p.y + 20 + i * line}, s))));
  }
  const wide = Math.max(...[...at.values()].map(p => p.x)) + width + 12;
  const colour = (c, name) => el('span', {}, el('i', {style: 'background:' + c}), name);
  return [el('div', {class: 'key'}, colour('#5db1ff', 'idle: waits for rows'), colour('#ee6464', 'busy: may be the bottleneck'),
    colour('#000000', 'backpressured: waits for those behind it'), colour('#d8dce2', 'not running')),
    el('div', {class: 'card'}, el('svg', {width: wide, height: tall + deep, role: 'img', 'aria-label': 'Operators of the job'},
      el('defs', {}, el('marker', {id: 'tip', viewBox: '0 0 8 8', refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto'},
        el('path', {d: 'M0,0 L8,4 L0,8 z', fill: '#8a97a3'}))), ...parts))];
}

async function job(id) {
  const [j, points, wrong] = await Promise.all([ask('jobs/' + id), ask('jobs/' + id + '/checkpoints'), ask('jobs/' + id + '/exceptions')]);
  const sources = new Set(j.plan.nodes.filter(n => !(n.inputs || []).length).map(n => n.id));
  const numbers = new Map(await Promise.all(j.vertices.map(async v => [v.id, await vertexNumbers(id, {...v, source: sources.has(v.id)})])));
  const live = j['end-time'] < 0;
  const cancel = el('button', {onclick: () => confirm('Cancel the job ' + j.name + '?') &&
    ask('jobs/' + id + '?mode=cancel', {method: 'PATCH'}).then(show, e => alert(e.message))}, 'Cancel');
  const c = points.counts;
  const act = (name, f) => el('button', {onclick: () => f().then(show, e => alert(e.message))}, name);
  const checkpoint = act('Take a checkpoint', () => trigger('jobs/' + id + '/checkpoints', {}, 'jobs/' + id + '/checkpoints/'));
  const stop = act('Stop with savepoint', async () => {
    const dir = prompt('Directory for the savepoint (empty: execution.checkpointing.savepoint-dir)', '');
    if (dir !== null) alert('Savepoint: ' + (await trigger('jobs/' + id + '/stop', {targetDirectory: dir || null}, 'jobs/' + id + '/savepoints/')).location);
  });
  return [
    el('div', {class: 'top'}, tag(j.state), el('h1', {}, j.name), j.state === 'RUNNING' ? checkpoint : null, j.state === 'RUNNING' ? stop : null, live ? cancel : null),
    el('p', {class: 'facts'}, el('span', {}, j['job-type']), el('span', {}, 'started ' + clock(j['start-time'])), el('span', {}, span(j.duration)),
      live ? null : el('span', {}, 'ended ' + clock(j['end-time'])), el('span', {}, id)),
    wrong['root-exception'] ? el('div', {}, el('h2', {}, 'Why it failed'), el('div', {class: 'card'}, el('pre', {}, wrong['root-exception'])), j.cure ? el('p', {}, 'What to do: ' + j.cure) : null) : null,
    j.waiting ? el('p', {}, 'It waits for slots: ' + j.waiting) : null,
    ...graph(j, numbers),
    ...j.sql ? [el('h2', {}, 'Statement'), el('div', {class: 'card'}, el('pre', {}, j.sql))] : [],
    el('h2', {}, 'Operators'),
    table(['Name', 'Status', '#Parallelism', '#Records in', '#Records out', '#In per second', '#Out per second', '#Busy', '#Backpressured', '#Watermark'],
      j.vertices.map(v => [v.name.replaceAll(' -> ', ' → '), tag(v.status), v.parallelism, numbers.get(v.id).from, numbers.get(v.id).to,
        count(numbers.get(v.id).inRate.toFixed(1)), count(numbers.get(v.id).outRate.toFixed(1)), v.load.busy,
        v.load.backpressured, watermark(numbers.get(v.id), j.now)]), ''),
    el('h2', {}, `Checkpoints: ${c.completed} completed, ${c.failed} failed, ${c.in_progress} in progress` + (c.restored ? `, ${c.restored} restored` : '')),
    table(['#Id', 'Status', 'Kind', 'Triggered', '#Duration', '#Written', '#State', '/Path or failure'], points.history.slice(0, 10).map(p => [p.id, tag(p.status),
      p.is_savepoint ? 'savepoint' : 'checkpoint', clock(p.trigger_timestamp), span(p.end_to_end_duration), size(p.checkpointed_size), size(p.state_size),
      p.failure_message || (p.discarded ? 'subsumed by a newer one' : p.external_path) || '']), 'None yet: see execution.checkpointing.interval.'),
    el('h2', {}, 'Failures'),
    table(['Time', 'Task', '/Cause'], wrong.exceptionHistory.entries.map(e => [clock(e.timestamp), e.taskName || '', e.stacktrace.split('\n\tat ')[0]]), 'None.'),
  ];
}

// trigger starts an operation, waits for its end and gives what came out.
async function trigger(path, body, polls) {
  const t = await ask(path, {method: 'POST', body: JSON.stringify(body)});
  for (;;) {
    const s = await ask(polls + t['request-id']);
    if (s.status.id === 'COMPLETED') {
      if (s.operation['failure-cause']) throw new Error(s.operation['failure-cause']['stack-trace'].split('\n\tat ')[0]);
      return s.operation;
    }
    await new Promise(done => setTimeout(done, 300));
  }
}

// show draws the page that the address names and comes back after a while; only the newest call draws.
async function show() {
  const mine = ++turn, trouble = document.getElementById('trouble');
  clearTimeout(timer);
  try {
    const id = (location.hash.match(/^#\/job\/([0-9a-f]{32})$/) || [])[1];
    const [o, page] = await Promise.all([ask('overview'), id ? job(id) : overview()]);
    if (mine !== turn) return;
    document.getElementById('summary').textContent = `${o['slots-available']} of ${o['slots-total']} slots free · jobs: ` +
      `${o['jobs-running']} running or waiting, ${o['jobs-finished']} finished, ${o['jobs-cancelled']} cancelled, ${o['jobs-failed']} failed`;
    const scrolled = [...main.querySelectorAll('.card')].map(c => c.scrollLeft);
    main.replaceChildren(...page.filter(x => x));
    [...main.querySelectorAll('.card')].forEach((c, i) => { c.scrollLeft = scrolled[i] || 0; });
    trouble.textContent = '';
  } catch (e) {
    if (mine !== turn) return;
    trouble.textContent = e instanceof TypeError ? 'No answer: has runnel ended?' : e.message;
    if (main.querySelector('.note') && main.children.length === 1) main.replaceChildren(el('p', {}, el('a', {href: '#/'}, 'All jobs')));
  }
  timer = setTimeout(show, every);
}

addEventListener('hashchange', () => { main.replaceChildren(el('p', {class: 'note'}, 'Loading')); show(); });
ask('config').then(c => { every = Math.max(c['refresh-interval'] || every, 500); }, () => {}).then(show);
