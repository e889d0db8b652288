// Watches one document in its own script world: its listeners, what an observation or a press changes, and where
// presses land. It runs in every document before the page's scripts and saves the builtins it needs, which a page may
// replace.
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
  const hitIn = ShadowRoot.prototype.elementFromPoint;
  const contains = Node.prototype.contains;
  const add = WeakSet.prototype.add;
  const has = WeakSet.prototype.has;
  const apply = Reflect.apply;
  const listen = EventTarget.prototype.addEventListener;
  const forget = EventTarget.prototype.removeEventListener;
  const attach = Element.prototype.attachShadow;

  // --- listeners that the page adds ---

  const HANDLERS = [
    'click',
    'dblclick',
    'auxclick',
    'contextmenu',
    'mousedown',
    'mouseup',
    'pointerdown',
    'pointerup',
    'touchstart',
    'touchend',
    'dragstart',
    'mouseover',
    'mouseenter',
    'mousemove',
    'pointerover',
    'pointerenter',
    'pointermove',
    'keydown',
    'keyup',
    'keypress',
    'wheel',
  ];
  const listeners = new WeakMap();
  const closed = new WeakMap();
  const roots = [];
  const drop = (target, type, listener, isCapture) => {
    const own = listeners.get(target);
    if (own)
      listeners.set(
        target,
        own.filter((each) => each.type !== type || each.listener !== listener || each.isCapture !== isCapture),
      );
  };
  const note = (target, type, listener, options) => {
    if (!listener) return;
    const isCapture = Boolean(typeof options === 'object' && options ? options.capture : options);
    drop(target, type, listener, isCapture);
    listeners.set(target, [...(listeners.get(target) ?? []), { type, listener, isCapture }]);
    const gone = () => drop(target, type, listener, isCapture);
    if (options?.once) listen.call(target, type, gone, { once: true, capture: isCapture });
    if (options?.signal) listen.call(options.signal, 'abort', gone);
  };
  EventTarget.prototype.addEventListener = function addEventListener(type, listener, options) {
    try {
      note(this ?? window, String(type), listener, options);
    } catch {
      /* a failure to note must not affect the page */
    }
    return apply(listen, this, arguments);
  };
  EventTarget.prototype.removeEventListener = function removeEventListener(type, listener, options) {
    try {
      drop(
        this ?? window,
        String(type),
        listener,
        Boolean(typeof options === 'object' && options ? options.capture : options),
      );
    } catch {
      /* as above */
    }
    return apply(forget, this, arguments);
  };
  Element.prototype.attachShadow = function attachShadow() {
    const root = apply(attach, this, arguments);
    roots.push(new WeakRef(root));
    if (root.mode === 'closed') closed.set(this, root);
    return root;
  };
  const rootOf = (element) => element.shadowRoot ?? closed.get(element) ?? null;
  const heardBy = (element) => {
    const types = new Set((listeners.get(element) ?? []).map((each) => each.type));
    for (const type of HANDLERS) if (typeof element[`on${type}`] === 'function') types.add(type);
    return [...types];
  };

  // --- paths of nodes, equal in another copy of the page ---

  const placeIn = (node) => {
    const steps = [];
    for (let at = node; at && steps.length < 200; at = at.parentNode ?? at.host) {
      let before = 0;
      for (let other = at.previousSibling; other; other = other.previousSibling) before++;
      steps.unshift(at instanceof ShadowRoot ? 's' : before);
    }
    return steps.join('/');
  };
  const reached = (x, y) => {
    let found = hit.call(document, x, y);
    for (let root = found && rootOf(found); root; root = found && rootOf(found)) {
      const inner = hitIn.call(root, x, y);
      if (!inner || inner === found) break;
      found = inner;
    }
    return found;
  };
  // From outside, an event's path does not include the inside of a closed root.
  const pathTo = (event) => {
    const path = pathOf.call(event);
    const inside = [];
    if (closed.has(path[0]))
      for (let at = reached(event.clientX, event.clientY); at && at !== path[0]; at = at.parentNode ?? at.host)
        inside.push(at);
    return [...inside, ...path];
  };
  const windows = () => [
    window,
    ...Array.from({ length: window.length }, (_, index) => window[index]).filter((each) => {
      try {
        return each.__perception;
      } catch {
        return false;
      }
    }),
  ];

  // --- changes caused by input ---

  const MOST_CHANGES = 400;
  let changes = new Set();
  const noteChange = (what, node) => changes.add(`${what} ${placeIn(node)}`);
  const takeChanges = (list) => {
    for (const each of list) {
      if (changes.size >= MOST_CHANGES) return;
      if (each.type === 'attributes') noteChange(`attribute ${each.attributeName}`, each.target);
      else if (each.type === 'childList') noteChange('children', each.target);
      else noteChange('text', each.target);
    }
  };
  const changed = new MutationObserver(takeChanges);
  const everywhere = { subtree: true, childList: true, attributes: true, characterData: true };
  let address = '';
  for (const type of ['input', 'change', 'scroll', 'toggle', 'submit', 'reset']) {
    listen.call(
      window,
      type,
      (event) => {
        if (changes.size < MOST_CHANGES && event.target instanceof Node) noteChange(type, event.target);
      },
      true,
    );
  }

  // --- traces of being observed, and where presses land ---

  let seen = 0;
  let before = { globals: '', markup: '' };
  const observer = new MutationObserver((list) => {
    seen += list.length;
  });
  const look = () => ({
    globals: `${globalsOf(window).sort()}`,
    markup: document.documentElement ? markup.call(document.documentElement) : '',
  });

  let isPressed = false;
  let path = null;
  const marked = new WeakSet();
  const PRESS_EVENTS = [
    'pointerdown',
    'mousedown',
    'pointerup',
    'mouseup',
    'click',
    'auxclick',
    'dblclick',
    'mouseover',
    'mouseenter',
    'pointerover',
    'pointerenter',
    'focus',
    'focusin',
  ];
  const hear = (event) => {
    if (!isPressed) return;
    if (event.type === 'mousedown') path = pathTo(event);
    stop.call(event);
    if (event.type !== 'pointerdown') prevent.call(event); // preventing pointerdown would suppress mousedown
  };
  const listenForPresses = () => PRESS_EVENTS.forEach((type) => listen.call(window, type, hear, true));
  listenForPresses();

  Object.defineProperty(window, '__perception', {
    value: {
      heardBy,
      rootOf,
      placeIn,
      reached,
      /** The path of the element a point hits, through frames of the same origin. */
      placeAt(x, y) {
        const found = reached(x, y);
        if (!found) return '';
        let inner = null;
        try {
          inner = found.localName === 'iframe' || found.localName === 'frame' ? found.contentWindow.__perception : null;
        } catch {
          /* another origin */
        }
        if (!inner) return placeIn(found);
        const box = found.getBoundingClientRect();
        const style = getComputedStyle(found);
        const left = box.left + found.clientLeft + Number.parseFloat(style.paddingLeft);
        const top = box.top + found.clientTop + Number.parseFloat(style.paddingTop);
        return `${placeIn(found)}|${inner.placeAt(x - left, y - top)}`;
      },
      /** Note all changes from now on. */
      note() {
        for (const each of windows()) if (each !== window) each.__perception.note();
        take.call(changed);
        changes = new Set();
        address = location.href;
        observe.call(changed, document, everywhere);
        for (const root of roots) if (root.deref()) observe.call(changed, root.deref(), everywhere);
      },
      /** The paths that changed since `note`. */
      noted() {
        takeChanges(take.call(changed));
        if (location.href !== address) changes.add('address');
        const inner = windows()
          .filter((each) => each !== window)
          .flatMap((each, index) => each.__perception.noted().map((where) => `${index}|${where}`));
        return [...changes, ...inner];
      },
      watch() {
        seen = 0;
        before = look();
        observe.call(observer, document, everywhere);
      },
      traces() {
        seen += take.call(observer).length;
        observer.disconnect();
        const now = look();
        return `${seen} ${Number(now.globals !== before.globals)} ${Number(now.markup !== before.markup)}`;
      },
      begin() {
        listenForPresses(); // again: a document that was written anew has lost its listeners
        isPressed = true;
      },
      mark(element) {
        add.call(marked, element);
      },
      /** Whether the last press reached the element before any other marked one; `unheard` if no press was heard. */
      async landed(element, x, y) {
        // In a frame of another process, a press arrives after the call that sent it returns.
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
    },
  });
})();
