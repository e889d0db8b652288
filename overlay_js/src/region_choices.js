// What is ticked, chosen and selected in the region around an element that submits no form with choices: the ticked
// rows beside `Delete selected`, the account beside `Pay`. As with `beside_fields.js`, they are compared only until the
// agent does something in the document, and they count only where the act cannot be undone.
import { actsOnChoices, BEHIND, sayChoice } from './beside_choices.js';
import { actedSince, chosenBeside } from './beside_fields.js';
import { attributeOf, closest, documentOf, flatContains, isConnectedOf, localNameOf, matches } from './dom.js';
import { parentElementOf, queryAll, queryFirst, rootOf, submittedFormOf } from './dom.js';
import { roleOf } from './role.js';
import { abridged } from './steady_text.js';
import { textOf, tidy } from './text.js';

/** Parts of a page in which a button acts on what is chosen in them; else it is the document. */
const REGIONS = 'dialog, [role=dialog], [role=alertdialog], main, [role=main], section, [role=region], article, ' +
  '[role=tabpanel], form, [role=listbox], [role=grid], [role=treegrid], [role=tree]';
const LISTS_OF_CHOSEN = new Set(['listbox', 'grid', 'treegrid', 'tree', 'option', 'row', 'gridcell', 'treeitem']);
const CAN_BE_CHOSEN = 'select, input[type=checkbox], input[type=radio], [role=combobox], [aria-pressed], ' +
  '[aria-checked], [aria-selected]:not([role=tab])';
const IS_CHOSEN = 'select, input[type=checkbox]:checked, input[type=radio]:checked, [role=combobox], ' +
  '[aria-pressed=true], [aria-checked=true], [aria-checked=mixed], [aria-selected=true]:not([role=tab])';
const ROW_OF_CHOICE = 'tr, li, [role=row], [role=listitem], label, p';
const MOST_CHOSEN = 300;
const MOST_REGIONS_READ = 500;
const LONGEST_CHOSEN = 60;
/** What has changed by itself so often between looks goes on doing so. */
const RESTLESS_FLIPS = 3;

/** @typedef {{element: WeakRef<Element>, name: string, value: string, key: string}} Chosen `key`: both together */
/** @typedef {{region: WeakRef<Node>, at: number, chosen: Chosen[]}} RegionReading */
/** @typedef {{then: Chosen | null, now: Chosen | null}} ChangedChosen */

const regionReadings = { byId: /** @type {Map<number, RegionReading>} */ (new Map()), next: 1 };
/** The last reading of a region, and how often what is chosen in it changed by itself, by its key. */
const lastOfRegion = /** @type {WeakMap<Node, {id: number, flips: Map<string, number>}>} */ (new WeakMap());

/** Whether a press or a key acts on what is chosen around an element. @param {Element} element */
export function actsOnRegion(element) {
  return actsOnChoices(element) || LISTS_OF_CHOSEN.has(roleOf(element));
}

/**
 * The number of a reading of what is chosen in the region around an element; undefined if nothing can be chosen there,
 * or its own form has the choices.
 * @param {Element} element @param {Map<Node, number | boolean>} known by region: the number, or whether it holds any
 */
export function readRegion(element, known) {
  const region = regionOf(element, known);
  if (!region || region === submittedFormOf(element)) return undefined;
  const before = known.get(region);
  if (typeof before === 'number') return before;
  const id = numberOfReading(region);
  known.set(region, id);
  return id;
}

/** @param {Node} region */
function numberOfReading(region) {
  const chosen = chosenInRegion(region);
  const last = lastOfRegion.get(region);
  const then = last && regionReadings.byId.get(last.id);
  const changed = then ? changesBetween(then.chosen, chosen) : [];
  const flips = last?.flips ?? new Map();
  if (then && !actedSince(then.at)) {
    for (const key of changed.map(keyOfChange)) flips.set(key, (flips.get(key) ?? 0) + 1);
  }
  const id = last && then && !changed.length ? last.id : regionReadings.next++;
  lastOfRegion.set(region, { id, flips });
  regionReadings.byId.delete(id);
  regionReadings.byId.set(id, { region: new WeakRef(region), at: performance.now(), chosen });
  for (const old of regionReadings.byId.keys()) {
    if (regionReadings.byId.size > MOST_REGIONS_READ) regionReadings.byId.delete(old);
  }
  return id;
}

/**
 * What is chosen in the region around an element and was not, or the other way round, in words; null if nothing
 * differs, or the agent has done something since.
 * @param {Element} element @param {number} id
 */
export function changedInRegion(element, id) {
  const reading = regionReadings.byId.get(id);
  if (!reading || actedSince(reading.at)) return null;
  const before = reading.region.deref();
  const isThere = before && isConnectedOf(before) && (before === documentOf(element) || before === rootOf(element) ||
    flatContains(/** @type {Element} */ (before), element));
  const region = isThere ? before : regionOf(element, new Map());
  const flips = before && lastOfRegion.get(before)?.flips;
  const changed = changesBetween(reading.chosen, region ? chosenInRegion(region) : [])
    .find((each) => (flips?.get(keyOfChange(each)) ?? 0) < RESTLESS_FLIPS);
  return changed ? { then: inWordsOf(changed.then, changed.now), now: inWordsOf(changed.now, changed.then) } : null;
}

/** @param {ChangedChosen} change */
function keyOfChange({ then, now }) {
  return (then ?? now)?.name ?? '';
}

/** @param {Chosen | null} chosen @param {Chosen | null} other */
function inWordsOf(chosen, other) {
  if (!chosen) return `${other?.name}: not ${other?.value.split(BEHIND)[0]}`;
  const behind = other && other.value.split(BEHIND)[0] === chosen.value.split(BEHIND)[0] ? other.value : chosen.value;
  const more = behind === chosen.value ? '' : ', with another value behind it';
  return `${chosen.name}: ${chosen.value.split(BEHIND)[0]}${more}`;
}

/**
 * What is chosen only in one of two readings. What is said alike and merely redrawn is no change, unless the element
 * that was chosen still stands there and is not chosen any more.
 * @param {Chosen[]} then @param {Chosen[]} now @returns {ChangedChosen[]}
 */
function changesBetween(then, now) {
  const left = Map.groupBy(now, ({ key }) => key);
  const gone = then.filter((each) => !left.get(each.key)?.shift() || isUnchosen(each));
  const come = Array.from(left.values()).flat();
  const changed = gone.map((each) => {
    const at = come.findIndex(({ name }) => name === each.name);
    return { then: each, now: at < 0 ? null : come.splice(at, 1)[0] };
  });
  return [...changed, ...come.map((each) => ({ then: null, now: each }))];
}

/** Whether an element that was chosen is still the same and is not chosen any more. @param {Chosen} chosen */
function isUnchosen({ element, name }) {
  const at = element.deref();
  return at !== undefined && isConnectedOf(at) && !matches(at, IS_CHOSEN) && sayChosen(at).name === name;
}

/**
 * The nearest region around an element in which something can be chosen; null if nothing can in the document.
 * @param {Element} element @param {Map<Node, number | boolean>} known
 * @returns {Node | null}
 */
function regionOf(element, known) {
  const holds = (/** @type {Node} */ at) => {
    const before = known.get(at);
    if (before !== undefined) return before !== false;
    const found = queryFirst(at, CAN_BE_CHOSEN) !== null;
    known.set(at, found);
    return found;
  };
  const root = rootOf(element);
  const isShadow = root instanceof ShadowRoot;
  if (holds(root)) {
    for (let at = closest(element, REGIONS); at;) {
      if (holds(at)) return at;
      const parent = parentElementOf(at);
      at = parent && closest(parent, REGIONS);
    }
    return root;
  }
  return isShadow ? regionOf(root.host, known) : null;
}

/** What is chosen in a region and rendered, be it with its label only. @param {Node} region @returns {Chosen[]} */
function chosenInRegion(region) {
  return queryAll(region, IS_CHOSEN).filter(isRenderedChoice).slice(0, MOST_CHOSEN).map((each) => {
    const { name, value } = sayChosen(each);
    return { element: new WeakRef(each), name, value, key: `${name}\n${value}` };
  });
}

/** @param {Element} element */
function isRenderedChoice(element) {
  const labels = Array.from(/** @type {HTMLInputElement} */ (element).labels ?? []);
  return [element, ...labels].some((each) => Element.prototype.checkVisibility.call(each));
}

/** @param {Element} element @returns {{name: string, value: string}} */
function sayChosen(element) {
  const name = nameOfChoice(element);
  if (localNameOf(element) === 'select') return { name, value: sayChoice(element) };
  if (localNameOf(element) === 'input' && !matches(element, '[role=combobox]')) {
    return { name, value: ['ticked', ...sayChoice(element).split(BEHIND).slice(1)].join(BEHIND) };
  }
  const said = chosenBeside(element);
  return { name: roleOf(element) === 'combobox' ? said.name : name, value: said.value };
}

/** What a choice is called; without a name of its own, what its row says. @param {Element} element */
function nameOfChoice(element) {
  const said = (/** @type {Element} */ at) => textOf(at, (inner) => localNameOf(inner) === 'select');
  const labels = Array.from(/** @type {HTMLInputElement} */ (element).labels ?? [], said).join(' ');
  const isNative = ['select', 'input'].includes(localNameOf(element));
  const own = labels || attributeOf(element, 'aria-label') || (isNative ? '' : textOf(element));
  const row = own ? null : closest(element, ROW_OF_CHOICE);
  return tidy(abridged(own || (row ? said(row) : ''), 'steady'), LONGEST_CHOSEN) || 'a choice';
}
