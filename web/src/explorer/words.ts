// Texts cut into parts: sentences and evidence by their places, words that were not found, words that two texts share.

export interface Part {
  text: string
  marks: number[]
}

/** Cuts by characters as Python counts them: one for what JavaScript writes as two units. */
export function slicer(text: string): (start: number, end?: number) => string {
  if (!/[\ud800-\udfff]/.test(text)) return (start, end) => text.slice(start, end)
  const characters = Array.from(text)
  return (start, end) => characters.slice(start, end).join('')
}

/** Returns a text in parts, each with the numbers of the ranges that cover it. */
export function cut(text: string, ranges: { start: number; end: number; mark: number }[]): Part[] {
  const slice = slicer(text)
  const borders = [...new Set([0, ...ranges.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b)
  return borders
    .map((start, index) => ({
      text: slice(start, borders[index + 1]),
      marks: ranges.filter((range) => range.start <= start && start < range.end).map((range) => range.mark),
    }))
    .filter((part) => part.text)
}

const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character)

/** Returns a text in parts; mark 0 is on words of the first list, mark 1 on those of the second, and so on. */
export function markWords(text: string, lists: string[][]): Part[] {
  const lower = text.toLowerCase()
  // letters whose lower case is longer would move the places
  if (lower.length !== text.length) return [{ text, marks: [] }]
  const marks = new Array<number>(text.length).fill(-1)
  lists.forEach((words, mark) => {
    for (const word of words) {
      const wanted = word.toLowerCase()
      if (!wanted) continue
      for (let place = lower.indexOf(wanted); place >= 0; place = lower.indexOf(wanted, place + wanted.length)) {
        const end = place + wanted.length
        const isWhole = !(isWord(wanted[0]) && isWord(lower[place - 1])) && !(isWord(wanted.at(-1)) && isWord(lower[end]))
        if (isWhole) marks.fill(mark, place, end)
      }
    }
  })
  const parts: Part[] = []
  for (let index = 0; index < text.length; index++) {
    const mark = marks[index]!
    const last = parts.at(-1)
    if (last && (last.marks[0] ?? -1) === mark) last.text += text[index]
    else parts.push({ text: text[index]!, marks: mark < 0 ? [] : [mark] })
  }
  return parts
}

// Beyond them two texts are shown without marks: the table of their words would be large.
const MAXIMUM_WORDS = 1500

/** Returns both texts in parts, mark 0 on words that the other one lacks, by their longest common sequence. */
export function compareWords(before: string, after: string): [Part[], Part[]] {
  const first = split(before)
  const second = split(after)
  if (first.length > MAXIMUM_WORDS || second.length > MAXIMUM_WORDS) {
    return [[{ text: before, marks: [] }], [{ text: after, marks: [] }]]
  }
  const width = second.length + 1
  const lengths = new Uint16Array((first.length + 1) * width)
  for (let i = first.length - 1; i >= 0; i--) {
    for (let j = second.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        first[i]!.trim() === second[j]!.trim()
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    }
  }
  const left: Part[] = []
  const right: Part[] = []
  let i = 0
  let j = 0
  while (i < first.length || j < second.length) {
    if (i < first.length && j < second.length && first[i]!.trim() === second[j]!.trim()) {
      add(left, first[i++]!, false)
      add(right, second[j++]!, false)
    } else if (j >= second.length || (i < first.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)) {
      add(left, first[i++]!, true)
    } else {
      add(right, second[j++]!, true)
    }
  }
  return [left, right]
}

const split = (text: string): string[] => text.match(/\S+\s*|^\s+/g) ?? []

function add(parts: Part[], word: string, isMarked: boolean): void {
  const last = parts.at(-1)
  if (last && last.marks.length > 0 === isMarked) last.text += word
  else parts.push({ text: word, marks: isMarked ? [0] : [] })
}

/** Returns the words of a text that carry its content: numbers, and words of three letters or more. */
const contentOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/\d[\d.,]*|\p{L}{3,}/gu) ?? [])

/** Returns which sentence within some places [rank, start, end] shares most words with another; null without a place. */
export function closestSentence(
  sentence: string,
  places: [number, number, number][],
  textOf: (rank: number) => string,
  rankFirst: number,
): [number, number, number] | null {
  const wanted = contentOf(sentence)
  let best: [number, number, number] | null = null
  let most = -1
  // at equal merit the chunk that the build names wins
  for (const [rank, from, to] of [...places].sort((a, b) => Number(b[0] === rankFirst) - Number(a[0] === rankFirst))) {
    const text = slicer(textOf(rank))(from, to)
    for (const { segment, index } of new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)) {
      const own = contentOf(segment)
      const merit = [...own].filter((word) => wanted.has(word)).length / Math.sqrt(own.size || 1)
      if (merit <= most) continue
      const start = from + Array.from(text.slice(0, index)).length
      most = merit
      best = [rank, start, start + Array.from(segment.trimEnd()).length]
    }
  }
  return best
}
