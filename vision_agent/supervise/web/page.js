// Shows the run's state as the server sends it, and sends back what the person chooses. Everything that comes from the
// visited page is inserted as text, never as markup.
'use strict';

const SVG = 'http://www.w3.org/2000/svg';
const WAKES_MS = 400; // a key meant for the previous proposal must not approve a new one
const PHASES = {
  working: 'Working',
  asked: 'Waiting for you',
  paused: 'Paused',
  question: 'Waiting for your answer',
  taking_over: 'Finishing its step before you take over',
  taken_over: 'You have the browser',
  ended: 'Ended',
};
const ELSEWHERE = {
  taking_over: 'Finishing its step before another window takes over',
  taken_over: 'Another window has the browser',
};
const NOT_SIGNED_IN =
  'Each tab signs in by itself, and this one is not signed in: go on in the tab in which you opened the printed ' +
  'address. To use this tab, open that address in it: if it was used before, another one is then printed where the ' +
  'run was started.';
const ARGUMENTS_LEFT_OUT = new Set(['kind', 'target', 'mark', 'source', 'path', 'to', 'arguments', 'evidence']);
const LABELS = {
  clear: 'replace the current text',
  submit: 'and press Enter',
  url: 'address',
  count: 'times',
  to: 'to',
  json_schema: 'schema',
};
const TARGETS = ['target', 'mark', 'source'];

const at = (id) => document.getElementById(id);
let state = null;
let draft = null; // {number, actions, active, isAwake}: the proposal with the person's changes
let cross = null; // a point in picture pixels
let typed = '';
let showsMarks = true;
let isCloseUp = matchMedia('(max-width: 860px)').matches; // a whole page is unreadable on a phone
/** This window's own name: one window of the page acts on the browser at a time. A reload makes it another one. */
const OWN_NAME = Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) => each.toString(36)).join('-');

// --- messages to and from the run

// Only the tab that the printed address opened has the key; another server on this machine gets our cookie, not this.
const given = document.querySelector('meta[name=key]');
if (given) sessionStorage.setItem('key', given.content);
const key = encodeURIComponent(sessionStorage.getItem('key') ?? '');
// The browser has signed in in another tab; this one signs in with its own link.
const signIn = () => {
  if (!key && location.hash.startsWith('#token=')) location.replace(`/sign-in${location.hash}`);
};
signIn();
addEventListener('hashchange', signIn);
/** Hears the run; not before all scripts of the page are there. */
document.addEventListener('DOMContentLoaded', () => {
  const source = new EventSource(`/events?key=${key}`);
  source.onmessage = (event) => {
    const before = state;
    state = JSON.parse(event.data);
    // What was wrong about an answer is settled once something else is asked.
    if (before && (before.phase !== state.phase || before.asked?.number !== state.asked?.number)) say('');
    show();
    if (state.ending) {
      source.close();
      awaitReport();
    }
  };
  source.onerror = () => {
    if (!state || !state.ending) at('phase').textContent = key ? 'Cannot reach the run' : 'Not signed in';
    if (!key) at('idle-text').textContent = NOT_SIGNED_IN;
    document.body.classList.toggle('signed-out', !key);
  };
});

/** Links the report as long as the command still serves it; its path stays. */
async function awaitReport() {
  const told = await fetch('/ending', { headers: { 'X-Supervision-Key': decodeURIComponent(key) } }).catch(() => null);
  if (!told?.ok) return;
  const { path, link } = await told.json();
  if (!path) return;
  const anchor = createElement('a', 'Open the report');
  [anchor.href, anchor.target, anchor.rel] = [link, '_blank', 'noreferrer'];
  at('report').replaceChildren(anchor, createElement('code', path));
  at('report').hidden = false;
  // It ends with the command, or once the report was opened.
  await fetch(`${link}/served`).then((served) => served.text()).catch(() => null);
  anchor.replaceWith(createElement('span', 'The report'));
}

async function send(path, body) {
  say('');
  let answer;
  try {
    answer = await fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', 'X-Supervision-Key': decodeURIComponent(key) },
    });
  } catch {
    return say('Cannot reach the run.');
  }
  if (answer.ok) return true;
  say(answer.status === 422 || answer.status === 409 ? (await answer.json()).sentence : await answer.text());
  return false;
}

/** The text with every character escaped that hides or reorders others; the server escapes all but what is editable. */
function escaped(text) {
  const numbers = (found) => found.split('').map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return text.replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (found) => numbers(found).join(''));
}

/** Who answers, by the name that they typed; this browser remembers it. */
const person = () => at('name').value.trim();
const order = (what, text = '') => send('/order', { do: what, text, window: OWN_NAME, name: person() });
const reply = (proposal, answer) => send('/reply', { proposal, ...answer, name: person() });

function say(sentence) {
  at('error').textContent = sentence;
  at('error').hidden = !sentence;
}

// --- showing

function createElement(tag, content = '', className = '') {
  const element = document.createElement(tag);
  element.textContent = content;
  if (className) element.className = className;
  return element;
}

function createShape(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function show() {
  const { phase, asked, seen, question, ending } = state;
  const isTaken = phase.startsWith('tak');
  const isElsewhere = isTaken && state.hands !== '' && state.hands !== OWN_NAME;
  const heading = isElsewhere ? ELSEWHERE[phase] : PHASES[phase];
  document.body.dataset.phase = phase;
  document.title = `${heading} · ${state.goal}`;
  at('phase').textContent = heading + (ending ? `: ${ending.words}` : '') + (state.step ? ` · step ${state.step}` : '');
  at('goal').textContent = state.goal;
  at('instructions').hidden = !state.instructions;
  at('instructions').textContent = `How it is to be done: ${state.instructions}`;
  for (const id of ['pause', 'take', 'stop', 'tell', 'named']) at(id).hidden = Boolean(ending);
  at('pause').hidden ||= state.isRecording;
  at('tell').hidden ||= !state.takesInstructions;
  at('key-tell').hidden = !state.takesInstructions;
  at('take').hidden ||= !(state.hasWindow || state.isLive);
  at('pause').firstElementChild.textContent = state.isPaused ? 'Resume' : 'Pause';
  at('take').firstElementChild.textContent = isElsewhere ? 'Take it here' : isTaken ? handBack() : 'Take over';
  showPicture(seen);
  if (asked && (!draft || draft.number !== asked.number)) take(asked);
  if (!asked) draft = null;
  at('asked').hidden = !asked || isTaken;
  at('question').hidden = question === null;
  at('question-text').textContent = question ?? '';
  at('idle').hidden = Boolean((asked && !isTaken) || question !== null);
  at('idle-text').textContent = idleText(isElsewhere);
  showLog();
  showDraft();
}

const handBack = () => (state.isRecording ? 'Done' : 'Hand back');

/** @param {boolean} isElsewhere whether another window has the browser */
function idleText(isElsewhere) {
  const { phase, seen, ending, isLive } = state;
  if (ending) return ending.sentence;
  if (isElsewhere) return 'Another window of this page has the browser. Go on there, or take it here.';
  if (phase === 'taking_over') return 'It finishes its current action first.';
  if (phase === 'taken_over' && state.isRecording) {
    return (
      'Do the task in the picture, then press Done. Each of your actions is recorded as a step; passwords are not.'
    );
  }
  if (phase === 'taken_over') {
    return (
      `Do what is needed ${isLive ? 'in the picture' : 'in the browser window'}, then hand it back. Each of your ` +
      'actions is recorded as a step; passwords are not. The run then looks at the page and decides anew.'
    );
  }
  return seen ? 'The run is deciding or acting.' : 'Waiting for the first observation.';
}

function showPicture(seen) {
  const shot = at('shot');
  if (!seen) return showLive();
  const address = `/shots/${showsMarks ? seen.marked : seen.clean}?key=${key}`;
  if (shot.getAttribute('src') !== address) shot.src = address;
  [shot.width, shot.height] = seen.size;
  showLive();
  at('title').textContent = seen.title || 'Untitled';
  at('url').textContent = seen.url;
}

/** The size of what is shown, in its own pixels. */
const sizeShown = () => (isLiveShown() && live.size) || state?.seen?.size || [1280, 800];

/** Fits the stage to what is shown, as a whole or close up. */
function fitStage() {
  const [width, height] = sizeShown();
  document.querySelector('.stage').style.setProperty('--ratio', width / height);
  at('over').setAttribute('viewBox', `0 0 ${width} ${height}`);
  at('zoom').setAttribute('aria-pressed', String(isCloseUp));
  at('frame').classList.toggle('close', isCloseUp);
  const room = at('frame').parentElement.clientWidth;
  at('sheet').style.setProperty('width', isCloseUp ? `${Math.max(width, room * 1.5)}px` : '100%');
}

/** Scrolls a close-up so that a place of the picture is in its middle. */
function bringToMiddle(x, y) {
  const [frame, sheet, [width, height]] = [at('frame'), at('sheet'), sizeShown()];
  frame.scrollTo({
    left: (x / width) * sheet.clientWidth - frame.clientWidth / 2,
    top: (y / height) * sheet.clientHeight - frame.clientHeight / 2,
  });
}

function bringAimToMiddle() {
  if (!isCloseUp || !draft) return;
  const { number, point } = targetOf(draft.actions[draft.active] ?? {});
  const mark = state.seen.marks.find((each) => each.n === number);
  if (mark) bringToMiddle(mark.box[0] + mark.box[2] / 2, mark.box[1] + mark.box[3] / 2);
  else if (point) bringToMiddle(point.x, point.y);
}

function showLog() {
  at('log').replaceChildren(
    ...state.log.toReversed().map((entry) => {
      const line = createElement('li', '', entry.what);
      line.append(createElement('span', entry.step || '', 'n'), createElement('span', entry.text, 'said'));
      if (entry.who && entry.who !== 'model')
        line.append(createElement('span', entry.who === 'human' ? 'you' : entry.who, 'by'));
      return line;
    }),
  );
}

/** Start a draft from the proposal, which the person can change. */
function take(asked) {
  draft = {
    number: asked.number,
    actions: asked.actions.map((each) => ({ ...each.action })),
    active: 0,
    isAwake: false,
  };
  [cross, typed] = [null, ''];
  say('');
  at('asked-who').textContent = asked.isWanted
    ? `Proposed by ${asked.author}`
    : `Paused before this proposal by ${asked.author}`;
  at('asked-goal').textContent = asked.goal || 'No goal stated';
  at('risks').replaceChildren(
    ...asked.risks.map((risk) => {
      const line = createElement('li');
      line.append(
        createElement('b', risk.risk === 'leave' ? 'leaves the site' : risk.risk),
        createElement('span', ` ${risk.why}`),
      );
      return line;
    }),
  );
  at('others').hidden = !asked.candidates.length;
  at('candidates').replaceChildren(
    ...asked.candidates.map((each) => {
      const button = createElement('button', '');
      button.type = 'button';
      button.append(
        createElement('b', each.mark),
        createElement('span', nameOf(each.mark), 'name'),
        createElement('span', each.reason, 'why'),
      );
      button.onclick = () => aimAt(each.mark);
      const line = createElement('li');
      line.append(button);
      return line;
    }),
  );
  showActions();
  bringAimToMiddle();
  const { number } = asked;
  setTimeout(() => {
    if (draft && draft.number === number) draft.isAwake = true;
    showDraft();
  }, WAKES_MS);
}

function showActions() {
  at('acts').replaceChildren(
    ...draft.actions.map((action, place) => {
      const item = createElement('li', '', place === draft.active ? 'active' : '');
      const head = createElement('button', '', 'act');
      head.type = 'button';
      head.append(createElement('b', action.kind.replace('_', ' ')), createElement('span', aimOf(action), 'aim'));
      head.onclick = () => {
        draft.active = place;
        showActions();
        showDraft();
      };
      item.append(head);
      for (const [name, value] of Object.entries(action)) {
        if (!ARGUMENTS_LEFT_OUT.has(name) && isEditable(name, value, action))
          item.append(field(action, name, value, place));
      }
      if (draft.actions.length > 1) {
        const drop = createElement('button', 'Remove', 'drop');
        drop.type = 'button';
        drop.onclick = () => {
          draft.actions.splice(place, 1);
          draft.active = 0;
          showActions();
          showDraft();
        };
        item.append(drop);
      }
      return item;
    }),
  );
}

/** Whether to offer this argument for editing; defaults are left out, so a plain click shows none. */
function isEditable(name, value, action) {
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return false;
  if (action.kind === 'click') return (name === 'button' && value !== 'left') || (name === 'count' && value > 1);
  if (name === 'modifiers' && !value.length) return false;
  return !(Array.isArray(value) && value.some((each) => typeof each === 'object'));
}

function field(action, name, value, place) {
  const label = createElement('label', '', typeof value === 'boolean' ? 'tick' : '');
  const input = document.createElement(typeof value === 'string' && value.length > 60 ? 'textarea' : 'input');
  if (typeof value === 'boolean') [input.type, input.checked] = ['checkbox', value];
  else {
    if (typeof value === 'number') [input.type, input.step] = ['number', 'any'];
    input.value = Array.isArray(value) ? value.join(', ') : value;
  }
  input.oninput = () => {
    action[name] =
      typeof value === 'boolean'
        ? input.checked
        : typeof value === 'number'
          ? Number(input.value)
          : Array.isArray(value)
            ? input.value
                .split(',')
                .map((each) => each.trim())
                .filter(Boolean)
            : input.value;
    draft.active = place;
    showDraft();
  };
  label.append(createElement('span', LABELS[name] ?? name.replace('_', ' ')), input);
  const plain = createElement('code', '', 'name');
  const reveal = () => {
    plain.textContent = escaped(input.value);
    plain.hidden = plain.textContent === input.value;
  };
  input.addEventListener('input', reveal);
  reveal();
  label.append(plain);
  return label;
}

function nameOf(number) {
  const mark = state.seen?.marks.find((each) => each.n === number);
  return mark ? mark.name || mark.tag : '';
}

function targetOf(action) {
  const name = TARGETS.find((each) => action[each] !== undefined && action[each] !== null);
  const target = name ? action[name] : null;
  return {
    name,
    number: typeof target === 'number' ? target : (target?.mark ?? null),
    point: target && target.x !== undefined ? target : null,
  };
}

function aimOf(action) {
  const { number, point } = targetOf(action);
  return number !== null
    ? `${number}  ${nameOf(number)}`
    : point
      ? `(${Math.round(point.x)}, ${Math.round(point.y)})`
      : escaped(action.url ?? '');
}

const isChanged = () =>
  draft && JSON.stringify(draft.actions) !== JSON.stringify(state.asked.actions.map((each) => each.action));

function showDraft() {
  const isOpen = Boolean(draft && state.asked && !state.phase.startsWith('tak'));
  at('do').disabled = !isOpen || !draft.isAwake;
  at('do').firstElementChild.textContent = isOpen && isChanged() ? 'Do this instead' : 'Do it';
  at('skip').disabled = at('do').disabled;
  at('skip').title = state?.takesInstructions
    ? 'Skip these actions; the model decides again'
    : 'Skip these actions and go on with what follows';
  at('undo').hidden = !isOpen || !isChanged();
  at('hint').textContent = typed
    ? `Mark ${typed}: press Enter to choose it`
    : cross
      ? `Point (${cross.x}, ${cross.y}): move it with the arrow keys, press Enter to choose it`
      : isOpen
        ? 'Click another mark or a point in the picture to act there.'
        : '';
  const over = at('over');
  over.replaceChildren();
  if (isLiveShown()) return showCrossInLive();
  if (!state.seen) return;
  const [width, height] = state.seen.size;
  over.classList.toggle('open', isOpen);
  const aims = isOpen ? draft.actions.map(targetOf) : [];
  const aimed = aims.map((aim) => state.seen.marks.find((mark) => mark.n === aim.number)).filter(Boolean);
  const boxes = aimed.map((mark) => mark.box);
  if (boxes.length) {
    const holes = aimed
      .map((mark) => boxWithLabel(mark))
      .map(([x, y, w, h]) => `M${x - 5} ${y - 5}h${w + 10}v${h + 10}h${-w - 10}z`)
      .join('');
    over.append(
      createShape('path', { class: 'shade', 'fill-rule': 'evenodd', d: `M0 0h${width}v${height}h${-width}z${holes}` }),
    );
  }
  if (isOpen) {
    for (const each of state.asked.candidates) {
      const mark = state.seen.marks.find((one) => one.n === each.mark);
      if (mark) over.append(createShape('rect', { class: 'other', ...expand(mark.box, 3) }));
    }
    for (const mark of aimed)
      over.append(createShape('rect', { class: 'aim', rx: 4, ...expand(boxWithLabel(mark), 5) }));
    for (const mark of [...state.seen.marks].sort((a, b) => b.box[2] * b.box[3] - a.box[2] * a.box[3])) {
      const rect = createShape('rect', {
        class: `mark${String(mark.n) === typed ? ' chosen' : ''}`,
        'data-mark': mark.n,
        ...expand(mark.box, 0),
      });
      const title = createShape('title', {});
      title.textContent = `${mark.n}  ${mark.tag} ${mark.name}`;
      rect.append(title);
      over.append(rect);
    }
  }
  for (const point of [...aims.map((aim) => aim.point), cross].filter(Boolean)) {
    over.append(
      createShape('path', {
        class: point === cross ? 'cross' : 'cross aimed',
        d: `M${point.x - 14} ${point.y}h28M${point.x} ${point.y - 14}v28`,
      }),
    );
  }
}

/** The box around a mark and its label, in picture pixels. */
function boxWithLabel({ box, label }) {
  const other = label ?? box;
  const [x, y] = [Math.min(box[0], other[0]), Math.min(box[1], other[1])];
  return [x, y, Math.max(box[0] + box[2], other[0] + other[2]) - x, Math.max(box[1] + box[3], other[1] + other[3]) - y];
}

const expand = ([x, y, width, height], by) => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
});

// --- choosing

/** Set a mark or a point as the target of the active action; an action without a target becomes a click. */
function aimAt(target) {
  if (!draft) return;
  [cross, typed] = [null, ''];
  if (typeof target === 'number' && !state.seen.marks.some((mark) => mark.n === target)) {
    say(`There is no mark ${target} in this picture.`);
    return showDraft();
  }
  say('');
  const action = draft.actions[draft.active];
  const { name } = action ? targetOf(action) : {};
  if (!name || (name !== 'target' && typeof target !== 'number')) draft.actions = [{ kind: 'click', target }];
  else action[name] = target;
  if (draft.active >= draft.actions.length) draft.active = 0;
  showActions();
  showDraft();
}

async function go() {
  if (!draft || at('do').disabled) return;
  const { number } = draft;
  for (const id of ['do', 'skip']) at(id).disabled = true;
  const body = isChanged() ? { kind: 'replace', actions: draft.actions } : { kind: 'approve' };
  if (!(await reply(number, body))) for (const id of ['do', 'skip']) at(id).disabled = false;
}

async function skip() {
  if (!draft || at('skip').disabled) return;
  for (const id of ['do', 'skip']) at(id).disabled = true;
  if (!(await reply(draft.number, { kind: 'skip' }))) showDraft();
}

function undo() {
  if (draft && isChanged()) take(state.asked);
  [cross, typed] = [null, ''];
  showDraft();
}

at('over').onclick = (event) => {
  if (!draft || at('asked').hidden) return;
  const mark = event.target.closest('[data-mark]');
  if (mark && !event.altKey) return aimAt(Number(mark.dataset.mark));
  const frame = at('over').getBoundingClientRect();
  const [width, height] = state.seen.size;
  const clamp = (value, most) => Math.max(0, Math.min(most - 1, Math.round(value)));
  aimAt({
    x: clamp(((event.clientX - frame.left) / frame.width) * width, width),
    y: clamp(((event.clientY - frame.top) / frame.height) * height, height),
  });
};
at('do').onclick = go;
at('skip').onclick = skip;
at('undo').onclick = undo;
at('marks').onclick = () => {
  if (isLiveShown()) live.choice = false;
  else showsMarks = !showsMarks;
  at('marks').setAttribute('aria-pressed', String(showsMarks));
  showPicture(state?.seen);
  if (state) showDraft();
};
at('zoom').onclick = () => {
  isCloseUp = !isCloseUp;
  fitStage();
  bringAimToMiddle();
};
at('pause').onclick = () => order(state?.isPaused ? 'resume' : 'pause');
at('take').onclick = () => {
  const isElsewhere = state.hands !== '' && state.hands !== OWN_NAME;
  return order(!state.phase.startsWith('tak') ? 'take_over' : isElsewhere ? 'take_here' : 'hand_back');
};
at('stop').onclick = () => at('sure').showModal();
at('sure').onclose = () => {
  if (at('sure').returnValue === 'stop') order('stop');
  at('sure').returnValue = '';
};

function onSubmit(form, input, act) {
  at(form).onsubmit = async (event) => {
    event.preventDefault();
    const text = at(input).value.trim();
    if (text && (await act(text))) {
      at(input).value = '';
      at(input).blur();
    }
  };
}
at('name').value = localStorage.getItem('name') ?? '';
at('name').onchange = () => localStorage.setItem('name', person());
onSubmit('instead', 'line', (line) => draft && reply(draft.number, { kind: 'replace', line }));
onSubmit('tell', 'text', (text) => order('instruct', text));
onSubmit('answer', 'reply', (text) => order('answer', text));

// --- keys

const KEYS = {
  p: () => at('pause').click(),
  t: () => at('take').hidden || at('take').click(),
  x: () => at('stop').click(),
  m: () => at('marks').click(),
  v: () => at('watch').hidden || at('watch').click(),
  z: () => at('zoom').click(),
  l: () => at('line').focus(),
  i: () => at('text').focus(),
  s: skip,
  Escape: undo,
  e: () => at('acts').querySelector('input, textarea')?.focus(),
  '.': () => {
    if (!draft && !hasHands()) return;
    const [width, height] = sizeShown();
    cross = cross ?? { x: Math.round(width / 2), y: Math.round(height / 2) };
    showDraft();
  },
};
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || at('sure').open) return;
  if (event.target.id === 'keys') return; // they go to the page
  const inField = event.target.closest('input, textarea');
  if (inField) {
    if (event.key === 'Escape') inField.blur();
    else if (event.key === 'Enter' && inField.closest('#acts') && inField.tagName === 'INPUT') {
      event.preventDefault();
      go();
    }
    return;
  }
  if (!state || state.ending) return;
  if (event.key === 'Enter') {
    // Enter activates the focused element.
    if (event.target.closest('button, a, summary') && event.target.id !== 'do') return;
    event.preventDefault();
    if (event.repeat) return;
    if (typed) aimAt(Number(typed));
    else if (hasHands()) cross ? clickAtCross() : at('keys').focus();
    else if (cross) aimAt(cross);
    else go();
  } else if (/^\d$/.test(event.key) && draft) {
    typed = (typed + event.key).slice(-4);
    showDraft();
  } else if (event.key === 'Backspace' && typed) {
    typed = typed.slice(0, -1);
    showDraft();
  } else if (ARROWS[event.key] && cross) {
    event.preventDefault();
    const far = event.shiftKey ? 40 : 8;
    const [width, height] = sizeShown();
    cross = {
      x: Math.max(0, Math.min(width - 1, cross.x + ARROWS[event.key][0] * far)),
      y: Math.max(0, Math.min(height - 1, cross.y + ARROWS[event.key][1] * far)),
    };
    showDraft();
  } else if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

// The token is used up; keep it out of sight and out of the address bar.
history.replaceState(null, '', '/');
