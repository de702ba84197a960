// Passages of an answer. A browser counts UTF-16 units, the warehouse counts characters (code points) of the logged
// answer, and masks change lengths in between.

import type { Item } from './data'

// Characters that change the direction of text or that nobody sees are shown as a box, one for one, so that places hold.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/g

export function showHidden(text: string): string {
  return text.replace(HIDDEN, '\u25a1')
}

export function countCharacters(text: string, units: number): number {
  let count = 0
  for (let index = 0; index < units; count++) index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1
  return count
}

export function countUnits(text: string, characters: number): number {
  let units = 0
  for (let count = 0; count < characters && units < text.length; count++) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1
  }
  return units
}

// A place in the shown answer as a place in the logged one. A place inside a mask becomes an edge of what it hides.
export function toLogged(masks: Item['masks'], shown: number, edge: 'start' | 'end'): number {
  let shift = 0
  for (const [shownStart, shownEnd, start, end] of masks) {
    if (shown <= shownStart) break
    if (shown < shownEnd) return edge === 'start' ? start : end
    shift = end - shownEnd
  }
  return shown + shift
}

export function toShown(masks: Item['masks'], logged: number): number {
  let shift = 0
  for (const [, shownEnd, start, end] of masks) {
    if (logged <= start) break
    shift = shownEnd - end
  }
  return logged + shift
}

// Sentences of the shown answer as (start, end) in UTF-16 units, without the blanks around them.
export function listSentences(text: string): [number, number][] {
  const found: [number, number][] = []
  for (const { segment, index } of new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)) {
    const start = index + segment.length - segment.trimStart().length
    const end = index + segment.trimEnd().length
    if (start < end) found.push([start, end])
  }
  return found
}
