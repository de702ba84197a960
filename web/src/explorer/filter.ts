// Which interactions a set of filters keeps, and how many each further value would keep.
import { decided, isFailing, isVerdict, codeOfStatus, page, rows, texts } from './data'

/** A property with few values: the code of each row from 0, and the values that each code stands for. */
export interface Facet {
  key: string
  title: string
  labels: string[]
  codes: Int32Array
  members: number[][]
}

export interface Selection {
  /** Rows that pass all filters, in the wanted order. */
  chosen: Int32Array
  /** By facet and value: rows that pass all other filters. */
  counts: Int32Array[]
}

/** Returns a facet of which a row has one value, or none (-1). */
function ofCodes(key: string, title: string, labels: string[], codes: Int32Array): Facet {
  return { key, title, labels, codes: codes.map((code) => code + 1), members: [[], ...labels.map((_, value) => [value])] }
}

let known: Facet[] | undefined

/** Returns the facets of the page; the rows must be decoded. */
export function facets(): Facet[] {
  known ??= ordered([
    ...page.dimensions.map(({ name, segments }, index) =>
      ofCodes(`d.${name}`, name.replaceAll('_', ' '), segments, rows.integers(`dimension_${index}`)),
    ),
    ofCodes('verdict', 'verdict', page.verdicts, rows.integers('verdict')),
    ...page.facets.map(({ name, segments }, index) =>
      ofCodes(`f.${name}`, name.replaceAll('_', ' '), segments, rows.integers(`facet_${index}`)),
    ),
    uses(),
    drawn(),
    ofCodes('outcome', 'outcome', page.outcomes, rows.integers('outcome')),
    failures(),
    ofCodes('label', 'label', page.labels, rows.integers('label')),
    ofSets('flag', 'flag of the query', rows.integers('flags'), page.flagSets),
    ofSets('tag', 'tag', rows.integers('tags'), page.tagSets),
  ]).filter((facet) => facet.labels.length > 0)
  return known
}

// What readers choose most stands first; the other dimensions follow as the build has them.
const FIRST = [
  'verdict', 'f.failed_criterion', 'd.system', 'use', 'd.topic', 'd.query_type', 'f.cause', 'd.asked_week', 'outcome', 'label', 'd.language',
  'flag', 'tag',
]
const LAST = ['f.first_document', 'fails']

function ordered(all: Facet[]): Facet[] {
  const place = ({ key }: Facet) => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length + 1 + LAST.indexOf(key))
  return [...all].sort((a, b) => place(a) - place(b))
}

/** What an interaction is counted in: the release decision, monitoring, both, or neither. */
function uses(): Facet {
  const labels = page.hasUses ? ['release', 'monitoring'] : []
  return { key: 'use', title: 'counted in', labels, codes: rows.integers('uses'), members: [[], [0], [1], [0, 1]] }
}

/** Whether an interaction was drawn for the last review round: its ratings can be imported. */
function drawn(): Facet {
  const items = page.review?.items ?? {}
  const codes = Int32Array.from(rows.texts('id'), (id) => (Object.hasOwn(items, id) ? 0 : -1))
  return ofCodes('drawn', 'drawn for rating', page.review ? [page.review.round] : [], codes)
}

// Bits of an integer: metrics beyond them are no facet, and the list can still be sorted by them.
const MAXIMUM_BITS = 31

function failures(): Facet {
  const metrics = decided.filter((metric) => !isVerdict(metric)).sort((a, b) => order(a) - order(b)).slice(0, MAXIMUM_BITS)
  const bits = new Int32Array(rows.integers('cluster').length)
  metrics.forEach((metric, bit) => {
    const words = rows.integers(`status_${metric}`)
    for (let row = 0; row < bits.length; row++) if (isFailing(words[row]!)) bits[row]! |= 1 << bit
  })
  // few of the possible sets of failing metrics occur: each gets a code
  const sets = new Map<number, number>()
  const codes = bits.map((set) => {
    if (!sets.has(set)) sets.set(set, sets.size)
    return sets.get(set)!
  })
  return {
    key: 'fails',
    title: 'score beyond its threshold',
    labels: metrics.map((metric) => page.metrics[metric]!.name),
    codes,
    members: [...sets.keys()].map((set) => metrics.map((_, bit) => bit).filter((bit) => set & (1 << bit))),
  }

  function order(metric: number): number {
    return metric === page.scoreMetric ? -1 : page.metrics[metric]!.isPrimary ? metric : metric + page.metrics.length
  }
}

function ofSets(key: string, title: string, codes: Int32Array, sets: string[][]): Facet {
  const labels = [...new Set(sets.flat())].sort()
  return { key, title, labels, codes, members: sets.map((set) => set.map((name) => labels.indexOf(name))) }
}

/** The status of a metric is a facet only while somebody filters by it. */
export function statusFacet(metric: number): Facet {
  const codes = rows.integers(`status_${metric}`).map((word) => Math.floor(word / 3))
  return ofCodes('status', `status of ${page.metrics[metric]!.name}`, page.statuses, codes)
}

/** Returns the values that a set of parameters selects in a facet. */
export function selectedOf(facet: Facet, params: URLSearchParams): Set<number> {
  return new Set(
    params
      .getAll(facet.key)
      .map((label) => facet.labels.indexOf(label))
      .filter((value) => value >= 0),
  )
}

/** Returns the rows that pass, in the order of `sequence`, and the counts of all facets. */
export function select(all: Facet[], params: URLSearchParams, sequence: Int32Array, found: Uint8Array | null): Selection {
  const allowed = all.map((facet) => {
    const selected = selectedOf(facet, params)
    // a value that this build does not know keeps nothing: a link must not show more than its sender saw
    if (!selected.size && !params.has(facet.key)) return null
    return Uint8Array.from(facet.members, (values) => (values.some((value) => selected.has(value)) ? 1 : 0))
  })
  const active = allowed.flatMap((passes, index) => (passes ? [{ passes, codes: all[index]!.codes, index }] : []))
  const tallies = all.map((facet) => new Int32Array(facet.members.length))
  const codes = all.map((facet) => facet.codes)
  const chosen = new Int32Array(sequence.length)
  let count = 0
  for (let place = 0; place < sequence.length; place++) {
    const row = sequence[place]!
    if (found && !found[row]) continue
    let missing = 0
    let failed = -1
    for (const each of active) {
      if (each.passes[each.codes[row]!]) continue
      missing++
      failed = each.index
      if (missing > 1) break
    }
    if (missing > 1) continue
    if (missing === 1) {
      tallies[failed]![codes[failed]![row]!]!++
      continue
    }
    chosen[count++] = row
  }
  for (let index = 0; index < all.length; index++) {
    const [tally, own] = [tallies[index]!, codes[index]!]
    for (let place = 0; place < count; place++) tally[own[chosen[place]!]!]!++
  }
  const counts = all.map((facet, index) => {
    const values = new Int32Array(facet.labels.length)
    facet.members.forEach((members, code) => {
      for (const value of members) values[value]! += tallies[index]![code]!
    })
    return values
  })
  return { chosen: chosen.slice(0, count), counts }
}

const sequences = new Map<string, Int32Array>()

/** Returns all rows by a score, worst first or best first; rows without a score come last. 'worst' is the file's order. */
export function sequenceOf(sort: string, isReversed: boolean): Int32Array {
  const key = `${sort}|${isReversed}`
  let sequence = sequences.get(key)
  if (sequence) return sequence
  const count = rows.integers('cluster').length
  sequence = Int32Array.from({ length: count }, (_, index) => index)
  const metric = page.metrics.findIndex((each) => each.name === sort)
  if (metric >= 0 && rows.has(`score_${metric}`)) {
    const scores = rows.numbers(`score_${metric}`)
    const sign = page.metrics[metric]!.isHigherBetter === isReversed ? -1 : 1
    const merit = new Float64Array(count)
    for (let row = 0; row < count; row++) {
      const status = codeOfStatus(rows.integers(`status_${metric}`)[row]!)
      const isScored = (status === 'scored' || status === 'truncated') && !Number.isNaN(scores[row]!)
      merit[row] = isScored ? scores[row]! * sign : Infinity
    }
    sequence.sort((a, b) => (merit[a] === merit[b] ? a - b : merit[a]! < merit[b]! ? -1 : 1))
  } else if (isReversed) {
    sequence.reverse()
  }
  sequences.set(key, sequence)
  return sequence
}

let searched: { text: string[]; rows: Int32Array } | undefined

/** Returns which rows hold all words of a search in their query or answer; null without a search. */
export async function search(words: string): Promise<Uint8Array | null> {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  if (!wanted.length) return null
  await texts.load(['query', 'answer'])
  const row = rows.integers('text')
  if (!searched) {
    const queries = texts.texts('query')
    const answers = texts.texts('answer')
    searched = { text: queries.map((query, index) => `${query}\n${answers[index]}`.toLowerCase()), rows: row }
  }
  const hits = searched.text.map((text) => wanted.every((word) => text.includes(word)))
  return Uint8Array.from(row, (index) => (index >= 0 && hits[index] ? 1 : 0))
}
