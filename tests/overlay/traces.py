"""What a page could notice of being looked at: evaluate `WATCH` first, and `TRACES` before and after."""

# ruff: noqa: E501  # a script on one line reads better than one cut in pieces

WATCH = """() => {
    window.records = [];
    new MutationObserver((all) => records.push(...all.map((each) => `${each.type} ${each.target.nodeName} ${each.attributeName}`)))
        .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    const isOfItself = ({ type, clientX, clientY }) => type === 'mousemove' && clientX === 0 && clientY === 0;
    for (const kind of ['resize', 'scroll', 'focus', 'blur', 'mousemove', 'visibilitychange'])
        addEventListener(kind, (event) => isOfItself(event) || records.push(`event ${kind}`), true);
}"""
"""Chromium's headless shell tells every new page of itself, sooner or later, that the mouse is in the corner."""
TRACES = """() => new Promise((done) => setTimeout(() => done({
    records,
    globals: Object.getOwnPropertyNames(window).sort(),
    markup: document.documentElement.outerHTML,
    scroll: [scrollX, scrollY],
    active: document.activeElement.tagName,
})))"""
