(all, [words, heading]) => {
  // Returns the indexes of the elements that are beside the words and under the heading.
  const HEADS = 'h1, h2, h3, h4, h5, h6, legend, summary, caption, dt, [role=heading]';
  const fold = (text) => ` ${(text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ')} `;
  const chainOf = (node) =>
    node ? [node, ...chainOf(node.assignedSlot ?? node.parentElement ?? node.getRootNode().host)] : [];
  const partsOf = (node) =>
    [...(node.localName === 'slot' ? node.assignedNodes() : (node.shadowRoot ?? node).childNodes)];
  const textOf = (node, but) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node === but || /^(script|style|template)$/.test(node.localName)) {
      return '';
    }
    const display = getComputedStyle(node).display;
    if (display === 'none') return '';
    const alternative = node.localName === 'img' ? node.alt : '';
    const inner = `${alternative}${partsOf(node).map((part) => textOf(part, but)).join('')}`;
    return /^(inline|contents)$/.test(display) && node.localName !== 'br' ? inner : ` ${inner} `;
  };
  const wordsOf = (text) => fold(text).trim().split(' ').filter(Boolean);
  // The words leave out amounts and times that stand between them.
  const canBePassed = (word) => /\p{N}|^(eur|usd|gbp|chf|jpy|am|pm|min|ago)$/u.test(word);
  const says = (node, what, but) => {
    const [text, wanted] = [wordsOf(textOf(node, but)), wordsOf(what)];
    return text.some((_, begin) => {
      let next = 0;
      for (let at = begin; at < text.length && next < wanted.length; at++) {
        if (text[at] === wanted[next]) next++;
        else if (!next || !canBePassed(text[at])) return false;
      }
      return next === wanted.length;
    });
  };
  const precedes = (node, other) => Boolean(node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);

  if (all.length < 2) return []; // the other candidates are gone, so the words cannot tell which one this is
  const chains = all.map(chainOf);
  const uses = new Map();
  for (const each of chains.flat()) uses.set(each, (uses.get(each) ?? 0) + 1);
  const owns = chains.map((chain) => chain.filter((each) => uses.get(each) === 1).at(-1) ?? chain[0]);

  const isUnder = (chain) => chain.some((each) => fold(each.getAttribute('aria-label') ?? '').includes(fold(heading)))
    || chain.some((each) => {
      if (each !== chain[0] && each.getRootNode() === chain[0].getRootNode()) return false;
      const before = [...each.getRootNode().querySelectorAll(HEADS)].filter((head) => precedes(head, each));
      return [...new Map(before.map((head) => [head.localName, head])).values()].some((head) => says(head, heading));
    });

  const besideInLine = () => {
    const shared = [...uses].filter(([, count]) => count > 1).map(([each]) => each);
    const loose = shared.flatMap(partsOf)
      .filter((each) => each.nodeType === Node.ELEMENT_NODE && !uses.has(each) && says(each, words));
    return loose.flatMap((each) => {
      const at = each.getBoundingClientRect();
      const gaps = all.map((one) => {
        const box = one.getBoundingClientRect();
        const middle = (box.top + box.bottom) / 2;
        const isInLine = middle >= at.top && middle <= at.bottom ||
          (at.top + at.bottom) / 2 >= box.top && (at.top + at.bottom) / 2 <= box.bottom;
        return isInLine ? Math.max(at.left - box.right, box.left - at.right, 0) : Infinity;
      });
      const least = Math.min(...gaps);
      return all.flatMap((_, index) => least < Infinity && gaps[index] === least ? [index] : []);
    });
  };

  const within = all.flatMap((each, index) => says(owns[index], words, each) ? [index] : []);
  const found = !words ? all.map((_, index) => index) : within.length ? within : besideInLine();
  return [...new Set(found)].filter((index) => !heading || isUnder(chains[index])).sort((a, b) => a - b);
}
