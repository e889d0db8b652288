// Reads the rules of a page's style sheets.

/**
 * The parts of a selector between separators outside of brackets; each keeps the separators before it.
 * @param {string} text @param {RegExp} separator
 */
export function splitSelector(text, separator) {
  const parts = [''];
  let depth = 0;
  for (const sign of text) {
    if ('(['.includes(sign)) depth++;
    else if (')]'.includes(sign)) depth--;
    const isBreak = depth === 0 && separator.test(sign);
    if (isBreak && !separator.test(parts[parts.length - 1].slice(-1) || ' ')) parts.push('');
    if (!(isBreak && sign === ',')) parts[parts.length - 1] += sign;
  }
  return parts;
}

/** The rules of a sheet; null where it comes from another site and may not be read. @param {CSSStyleSheet} sheet */
export function rulesOf(sheet) {
  try {
    return sheet.cssRules;
  } catch {
    return null;
  }
}
