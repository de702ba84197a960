// The cells of the maps: a metric in a segment, or in a segment of one dimension and a segment of another.
import { cells, isVerdict, page } from './data'
import { formatPercent } from './format'
import type { Rate } from './intervals'
import { WEAK } from './parts'
import type { Cell } from './parts'
import { go, link } from './route'
import { cellParams, usedFor } from './selection'
import { texts } from './texts'

const COLUMNS = [
  'metric', 'first_dimension', 'first_segment', 'second_dimension', 'second_segment', 'count_interactions', 'count_scored',
  'count_clusters', 'share_failing', 'share_failing_lower', 'share_failing_upper', 'mean_score', 'mean_score_lower',
  'mean_score_upper', 'value', 'measurement', 'marks',
]

let byPlace: Map<string, number> | undefined

export async function loadCells(): Promise<void> {
  await cells.load(COLUMNS)
  if (byPlace) return
  const parts = COLUMNS.slice(0, 5).map((name) => cells.integers(name))
  byPlace = new Map(Array.from(parts[0]!, (_, index) => [parts.map((part) => part[index]).join('|'), index]))
}

/** Returns the number of a cell; -1 if the build does not have it. */
export function findCell(metric: number, first = -1, firstSegment = -1, second = -1, secondSegment = -1): number {
  return byPlace?.get([metric, first, firstSegment, second, secondSegment].join('|')) ?? -1
}

/** Returns the pairs of dimensions of the maps; the topic by the system first, for it is where most readers begin. */
export function pairs(): [number, number][] {
  const [first, second] = [cells.integers('first_dimension'), cells.integers('second_dimension')]
  const found = new Map<string, [number, number]>()
  for (let index = 0; index < first.length; index++) {
    if (second[index]! >= 0) found.set(`${first[index]}|${second[index]}`, [first[index]!, second[index]!])
  }
  const rank = ([a, b]: [number, number]) =>
    page.dimensions[a]!.name === 'topic' && page.dimensions[b]!.name === 'system' ? 0 : 1
  return [...found.values()].sort((a, b) => rank(a) - rank(b))
}

export interface CellValue {
  value: number
  low: number
  high: number
  isRate: boolean
  n: number
  marks: number
}

export function valueOf(index: number): CellValue {
  const isRate = Number.isFinite(cells.numbers('share_failing')[index]!)
  const name = isRate ? 'share_failing' : 'mean_score'
  return {
    value: cells.numbers(name)[index]!,
    low: cells.numbers(`${name}_lower`)[index]!,
    high: cells.numbers(`${name}_upper`)[index]!,
    isRate,
    n: cells.integers('count_scored')[index]!,
    marks: cells.integers('marks')[index]!,
  }
}

// as hcat.explorer.tables.MEASUREMENTS
const OF_ALL = 3

/** Returns what a cell was tested on, where the map shows another value: the share of failures with refusals. */
function testedOf(index: number): string {
  if (cells.integers('measurement')[index] !== OF_ALL || !(cells.integers('marks')[index]! & WEAK)) return ''
  return texts.map.ofAll(formatPercent(cells.numbers('value')[index]))
}

/** Returns cells as a map draws them; a mean is shaded by its place between the best and the worst cell. */
export function toHeat(indices: number[], name: (index: number) => string): Map<number, Cell> {
  const values = indices.map(valueOf)
  const means = values.filter((each) => !each.isRate && Number.isFinite(each.value)).map((each) => each.value)
  const [least, most] = [Math.min(...means), Math.max(...means)]
  return new Map(
    indices.map((index, place) => {
      const { value, low, high, isRate, n, marks } = values[place]!
      const metric = page.metrics[cells.integers('metric')[index]!]!
      const merit = (value - least) / (most - least || 1)
      const shade = isRate ? value : metric.isHigherBetter ? 1 - merit : merit
      return [
        index,
        { share: value, low, high, isRate, shade, n, marks, tested: testedOf(index), name: name(index), onSelect: () => go(addressOf(index)) },
      ]
    }),
  )
}

function placeOf(index: number): [number, number][] {
  return ['first', 'second']
    .map((which): [number, number] => [cells.integers(`${which}_dimension`)[index]!, cells.integers(`${which}_segment`)[index]!])
    .filter(([dimension]) => dimension >= 0)
}

/** Returns the segments of a cell by name. */
export function segmentsOf(index: number): [string, string][] {
  return placeOf(index).map(([dimension, segment]) => {
    const { name, segments } = page.dimensions[dimension]!
    return [name, segments[segment]!]
  })
}

/** Returns the cell that some filters select, -1 if they select none. */
export function findCellOf(filters: [string, string][], metric: number): number {
  const uses = Object.entries(usedFor('release'))
  const places = filters
    .filter(([name]) => name !== 'use')
    .map(([name, value]): [number, number] => {
      const dimension = page.dimensions.findIndex((each) => `d.${each.name}` === name)
      return [dimension, page.dimensions[dimension]?.segments.indexOf(value) ?? -1]
    })
  const isCounted = uses.length === filters.length - places.length && filters.every(([name, value]) => name !== 'use' || value === 'release')
  if (!isCounted || places.length > 2 || places.some(([, segment]) => segment < 0)) return -1
  const found = [places, [...places].reverse()].map(([one, other]) => findCell(metric, one?.[0], one?.[1], other?.[0], other?.[1]))
  return found.find((index) => index >= 0 && valueOf(index).isRate) ?? -1
}

/** Returns the share failing of a cell, as the build measured it. */
export function rateOf(index: number): Rate {
  const { value, low, high, n } = valueOf(index)
  return { count: n, countClusters: cells.integers('count_clusters')[index]!, share: value, low, high }
}

/** Returns the address of the interactions of a cell that fail, or of all where nothing decides; the worst come first. */
export function addressOf(index: number): string {
  const metric = cells.integers('metric')[index]!
  return link('interactions', '', cellParams(placeOf(index), { ...usedFor('release'), ...failing(metric) }))
}

/** Returns the parameters that select what fails a metric, its lowest score first. */
export function failing(metric: number): Record<string, string> {
  const { name, threshold } = page.metrics[metric]!
  if (isVerdict(metric)) return { verdict: 'failing' }
  return { ...(metric === page.mainMetric ? {} : { metric: name }), ...(threshold === null ? {} : { fails: name }), sort: name }
}
