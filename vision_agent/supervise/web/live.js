// The live view: shows the page as it is now, and passes on what the person does in it while they have the browser.
// Pictures are asked for one by one, so none is on its way that nobody waits for.
'use strict';

const BY_ITSELF = new Set(['working', 'question', 'taking_over', 'taken_over']); // phases that show it unasked
const AGAIN_MS = 1000;
const BUTTONS = ['left', 'middle', 'right'];
const LONGEST_TEXT = 20000;
const MOST_AT_ONCE = 100;
const BURST_MS = 1000;
const SWIPE_PX = 8;
const LINE_PX = 16;
const IS_MAC = /mac/i.test(navigator.platform);
const headers = { 'X-Supervision-Key': decodeURIComponent(key) };

const live = {
  choice: null, // what the person chose in this phase: to see it or not
  phase: '',
  number: 0, // of the picture that shows
  size: null, // of the page's view, in its own pixels
  note: '',
  isAsking: false,
  isSending: false,
  queue: [], // inputs, each with the number of the picture that it was meant for
  refusedAt: -Infinity, // when a press was refused, or the last key came that was typed for it
  down: new Set(), // keys
  isPressed: false,
  touch: null,
};

/** Whether this window acts on the page. */
const hasHands = () => Boolean(state) && state.phase === 'taken_over' && state.isLive && state.hands === OWN_NAME;

const isLiveShown = () => Boolean(state?.isLive && !state.ending && (live.choice ?? BY_ITSELF.has(state.phase)));

/** Shows the live view or the picture of the last look, and asks for pictures as long as they are seen. */
function showLive() {
  if (live.phase !== state.phase) [live.phase, live.choice] = [state.phase, null];
  const [isShown, isMine] = [isLiveShown(), hasHands()];
  at('watch').hidden = !state.isLive || Boolean(state.ending);
  at('watch').setAttribute('aria-pressed', String(isShown));
  at('marks').setAttribute('aria-pressed', String(showsMarks && !isShown));
  at('type').hidden = !isMine;
  at('keys').hidden = !isMine;
  at('live').hidden = !isShown || !live.size;
  at('shot').hidden = !at('live').hidden || !state.seen;
  at('frame').classList.toggle('mine', isMine);
  at('frame').setAttribute(
    'aria-label',
    isMine
      ? 'The page, which is yours. Press Enter to type into it and F6 to leave it; press . to place a cross, move it ' +
          'with the arrow keys, and press Enter to click there.'
      : 'The page with its marks. Press . to place a cross, move it with the arrow keys, and press Enter to choose ' +
          'that point.',
  );
  if (!isMine) letGo();
  showNote();
  fitStage();
  askForPictures();
}

function showNote() {
  const hint = matchMedia('(pointer: coarse)').matches
    ? 'Tap and swipe in the picture. Lists of options do not show: tap one, then Type; type the option and press Enter.'
    : 'Click, drag, scroll and type in it. Lists of options do not show: use the arrow keys or type, then press Enter.';
  const isConnecting = hasHands() && !live.size;
  const said =
    live.note ||
    (isConnecting ? 'Connecting to the page. It takes no clicks yet.' : '') ||
    (document.activeElement === at('keys') ? 'Your keys go to the page. F6 brings you back.' : '') ||
    (hasHands() ? hint : '');
  at('live-note').textContent = isLiveShown() ? said : '';
  at('live-note').hidden = !at('live-note').textContent;
  at('live-note').classList.toggle('warns', Boolean(live.note) || isConnecting);
}

function note(sentence) {
  live.note = sentence;
  showNote();
}

async function askForPictures() {
  if (live.isAsking) return;
  live.isAsking = true;
  while (isLiveShown() && !document.hidden) {
    try {
      const answer = await fetch(`/live?after=${live.number}&window=${OWN_NAME}`, { headers });
      if (answer.status === 204) continue;
      if (!answer.ok) throw new Error(answer.status === 409 ? (await answer.json()).sentence : await answer.text());
      await showFrame(answer);
    } catch (error) {
      // A TypeError says that nobody answers.
      note(error instanceof TypeError ? 'The live view was lost; reconnecting.' : error.message);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
  live.isAsking = false;
}

async function showFrame(answer) {
  const number = Number(answer.headers.get('X-Frame'));
  if (answer.headers.get('Content-Type').startsWith('application/json')) {
    live.number = number;
    return note((await answer.json()).note);
  }
  const picture = await createImageBitmap(await answer.blob());
  const canvas = at('live');
  [canvas.width, canvas.height] = [picture.width, picture.height];
  canvas.getContext('2d').drawImage(picture, 0, 0);
  picture.close();
  const isFirst = !live.size;
  [live.number, live.size] = [number, answer.headers.get('X-Size').split(' ').map(Number)];
  if (live.note) note('');
  if (isFirst || canvas.hidden) showLive();
}

document.addEventListener('visibilitychange', () => {
  if (state && !document.hidden) askForPictures();
});
at('watch').onclick = () => {
  live.choice = !isLiveShown();
  showPicture(state?.seen);
  if (state) showDraft();
};

// --- what the person does in it

function pass(input) {
  if (isForRefusedPress(input)) return;
  if (input.kind === 'down') live.refusedAt = -Infinity; // what is typed from now on is typed for this one
  const last = live.queue.at(-1)?.input;
  const given = { input, frame: live.number };
  if (input.kind === 'move' && last?.kind === 'move') live.queue[live.queue.length - 1] = given;
  else if (input.kind === 'wheel' && last?.kind === 'wheel') {
    input.dx += last.dx;
    input.dy += last.dy;
    live.queue[live.queue.length - 1] = given;
  } else live.queue.push(given);
  sendQueue();
}

/** Whether this is typed for a press that was refused: it would go to the field before. */
function isForRefusedPress({ kind }) {
  if (kind !== 'key_down' && kind !== 'text') return false;
  const now = performance.now();
  if (now - live.refusedAt > BURST_MS) return false;
  live.refusedAt = now;
  return true;
}

/** The next inputs to send: a press begins anew, so that what was typed before it arrives even if it is refused. */
function takeFromQueue() {
  const press = live.queue.findIndex(({ input }, at) => at > 0 && input.kind === 'down');
  return live.queue.splice(0, press > 0 ? Math.min(press, MOST_AT_ONCE) : MOST_AT_ONCE);
}

/** What is held still comes up. */
function dropQueue() {
  live.queue = live.queue.filter(({ input }) => input.kind === 'up' || input.kind === 'key_up');
}

async function sendQueue() {
  if (live.isSending) return;
  live.isSending = true;
  while (live.queue.length) {
    const given = takeFromQueue();
    const isPress = given[0].input.kind === 'down';
    const inputs = given.map(({ input }) => input);
    const body = JSON.stringify({ window: OWN_NAME, frame: given[0].frame, inputs });
    try {
      const answer = await fetch('/input', {
        method: 'POST', body, headers: { ...headers, 'Content-Type': 'application/json' },
      });
      if (!answer.ok) {
        dropQueue();
        if (isPress) live.refusedAt = performance.now();
        say(answer.status === 409 || answer.status === 422 ? (await answer.json()).sentence : await answer.text());
      } else if (isPress) say('');
    } catch {
      dropQueue();
      note('The live view was lost; reconnecting. What you did last may not have reached the page.');
    }
  }
  live.isSending = false;
}

function placeOf(event) {
  const box = at('live').getBoundingClientRect();
  const share = (at, from, size) => Math.max(0, Math.min(1, (at - from) / size));
  return { x: share(event.clientX, box.left, box.width), y: share(event.clientY, box.top, box.height) };
}

const MODIFIERS = [['altKey', 'Alt'], ['ctrlKey', 'Control'], ['metaKey', 'Meta'], ['shiftKey', 'Shift']];
const modifiersOf = (event) => MODIFIERS.filter(([name]) => event[name]).map(([, held]) => ownKey(held));

/** What is Command on a Mac is Control where the page runs. */
const ownKey = (name) => (IS_MAC && name === 'Meta' ? 'Control' : name);

const isIn = (event) => hasHands() && !at('live').hidden && event.target === at('over');

at('frame').addEventListener('mousedown', (event) => {
  if (!isIn(event) || !BUTTONS[event.button]) return;
  event.preventDefault();
  at('keys').focus({ preventScroll: true });
  live.isPressed = true;
  const count = Math.max(1, Math.min(3, event.detail));
  pass({ kind: 'down', ...placeOf(event), button: BUTTONS[event.button], count, modifiers: modifiersOf(event) });
});
document.addEventListener('mousemove', (event) => {
  if (live.isPressed || isIn(event)) pass({ kind: 'move', ...placeOf(event), modifiers: modifiersOf(event) });
});
document.addEventListener('mouseup', (event) => {
  if (!live.isPressed || !BUTTONS[event.button]) return;
  live.isPressed = event.buttons !== 0;
  const count = Math.max(1, Math.min(3, event.detail));
  pass({ kind: 'up', ...placeOf(event), button: BUTTONS[event.button], count, modifiers: modifiersOf(event) });
});
at('frame').addEventListener('contextmenu', (event) => {
  if (isIn(event)) event.preventDefault();
});
at('frame').addEventListener(
  'wheel',
  (event) => {
    if (!isIn(event)) return;
    event.preventDefault();
    const by = event.deltaMode === 0 ? 1 : event.deltaMode === 1 ? LINE_PX : innerHeight;
    const [dx, dy] = [event.deltaX * by, event.deltaY * by];
    pass({ kind: 'wheel', ...placeOf(event), dx, dy, modifiers: modifiersOf(event) });
  },
  { passive: false },
);

// A finger taps, and scrolls the page; in a close-up it moves the picture instead.
at('frame').addEventListener('pointerdown', (event) => {
  if (event.pointerType !== 'touch' || !isIn(event)) return;
  event.preventDefault();
  live.touch = { x: event.clientX, y: event.clientY, hasMoved: false };
});
at('frame').addEventListener('pointermove', (event) => {
  const touch = live.touch;
  if (event.pointerType !== 'touch' || !touch) return;
  const [dx, dy] = [touch.x - event.clientX, touch.y - event.clientY];
  if (!touch.hasMoved && Math.hypot(dx, dy) < SWIPE_PX) return;
  [touch.x, touch.y, touch.hasMoved] = [event.clientX, event.clientY, true];
  const scale = live.size[0] / at('live').clientWidth;
  pass({ kind: 'wheel', ...placeOf(event), dx: dx * scale, dy: dy * scale });
});
at('frame').addEventListener('pointerup', (event) => {
  const touch = live.touch;
  if (event.pointerType !== 'touch' || !touch) return;
  live.touch = null;
  if (!touch.hasMoved) click(placeOf(event));
});
at('frame').addEventListener('pointercancel', () => {
  live.touch = null;
});

function click(place) {
  pass({ kind: 'down', ...place });
  pass({ kind: 'up', ...place });
}

/** Clicks where the cross is, which the keyboard has placed. */
function clickAtCross() {
  const [width, height] = sizeShown();
  click({ x: cross.x / width, y: cross.y / height });
}

function showCrossInLive() {
  at('over').classList.toggle('open', false);
  if (!cross || !hasHands()) return;
  const [width] = sizeShown();
  const arm = (14 * width) / 1280;
  const d = `M${cross.x - arm} ${cross.y}h${2 * arm}M${cross.x} ${cross.y - arm}v${2 * arm}`;
  at('over').append(createShape('path', { class: 'cross', d }));
}

const keys = at('keys');
at('type').onclick = () => keys.focus();
keys.addEventListener('focus', showNote);
keys.addEventListener('blur', () => {
  letGo();
  showNote();
});

/** What is down when nobody is there to let go of it comes up. */
function letGo() {
  for (const name of live.down) pass({ kind: 'key_up', key: name });
  live.down.clear();
}

keys.addEventListener('keydown', (event) => {
  if (event.key === 'F6') {
    event.preventDefault();
    return at('take').focus();
  }
  const isPaste = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'v';
  if (isPaste || event.isComposing || ['Dead', 'Process', 'Unidentified', 'AltGraph'].includes(event.key)) return;
  event.preventDefault();
  if (event.getModifierState('AltGraph') && event.key.length === 1) {
    letGo(); // where AltGr counts as Control and Alt, the page would take the letter for a command
    return pass({ kind: 'text', text: event.key });
  }
  const name = ownKey(event.key);
  live.down.add(name);
  pass({ kind: 'key_down', key: name });
});
keys.addEventListener('keyup', (event) => {
  const name = ownKey(event.key);
  // With Shift up first, a letter comes up under its other name.
  for (const down of [...live.down].filter((each) => each.toLowerCase() === name.toLowerCase())) {
    live.down.delete(down);
    pass({ kind: 'key_up', key: down });
  }
});
keys.addEventListener('input', (event) => {
  if (event.isComposing) return;
  passText(keys.value);
  keys.value = '';
});
keys.addEventListener('compositionend', () => {
  passText(keys.value);
  keys.value = '';
});
keys.addEventListener('paste', (event) => {
  event.preventDefault();
  passText(event.clipboardData.getData('text/plain'));
});

function passText(text) {
  const { length } = text;
  if (length > LONGEST_TEXT) return say(`The text has ${length} characters; at most ${LONGEST_TEXT} can be pasted.`);
  if (text) pass({ kind: 'text', text });
}
