// Watches one document in its own script world: what changed under its eyes, and where a press lands.
// Put into every document before its own scripts run. What it needs is taken now, since a page may replace it later.
(() => {
  const globalsOf = Object.getOwnPropertyNames;
  const observe = MutationObserver.prototype.observe;
  const take = MutationObserver.prototype.takeRecords;
  const markup = Object.getOwnPropertyDescriptor(Element.prototype, 'outerHTML').get;
  const stop = Event.prototype.stopImmediatePropagation;
  const prevent = Event.prototype.preventDefault;
  const pathOf = Event.prototype.composedPath;
  const later = window.setTimeout;
  const hit = Document.prototype.elementFromPoint;
  const contains = Node.prototype.contains;
  const add = WeakSet.prototype.add;
  const has = WeakSet.prototype.has;

  let records = 0;
  let before = { globals: '', markup: '' };
  const observer = new MutationObserver((list) => { records += list.length; });
  const look = () => ({ globals: `${globalsOf(window).sort()}`, markup: document.documentElement ? markup.call(document.documentElement) : '' });

  let isPressed = false;
  let path = null;
  const marked = new WeakSet();
  for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'mouseover', 'mouseenter', 'pointerover', 'pointerenter', 'focus', 'focusin']) {
    addEventListener(type, (event) => {
      if (!isPressed) return;
      if (type === 'mousedown') path = pathOf.call(event);
      stop.call(event);
      if (type !== 'pointerdown') prevent.call(event); // after that no mousedown would come
    }, true);
  }

  Object.defineProperty(window, '__perception', { value: {
    watch() {
      records = 0;
      before = look();
      observe.call(observer, document, { subtree: true, childList: true, attributes: true, characterData: true });
    },
    traces() {
      records += take.call(observer).length;
      observer.disconnect();
      const now = look();
      return `${records} ${Number(now.globals !== before.globals)} ${Number(now.markup !== before.markup)}`;
    },
    begin() { isPressed = true; },
    mark(element) { add.call(marked, element); },
    /** Whether the last press reached the element before any other marked one; `unheard` where no press was heard. */
    async landed(element, x, y) {
      // To a frame of another process a press comes later than it is said to be done.
      for (let wait = 0; !path && wait < 30; wait++) await new Promise((done) => later.call(window, done, 50));
      const reached = path;
      path = null;
      if (!reached) {
        if (window !== window.top) return 'lost';
        const at = hit.call(document, x, y);
        return at && contains.call(element, at) ? 'unheard' : 'lost';
      }
      for (let i = 0; i < reached.length; i++) {
        const at = reached[i];
        if (at === element || (at.localName === 'label' && at.control === element)) return 'landed';
        if (at.nodeType === 1 && has.call(marked, at)) return 'another';
      }
      return 'elsewhere';
    },
  } });
})()
