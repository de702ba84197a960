// What the current filters select, shared by the list and by the interaction that was opened from it.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { findCellOf, loadCells, rateOf } from './cells'
import { isFailing, isJudged, isVerdict, loadMetrics, loadRows, page, rows } from './data'
import { facets, search, select, sequenceOf, statusFacet } from './filter'
import type { Facet, Selection } from './filter'
import { rateInterval } from './intervals'
import type { Rate } from './intervals'
import { useReady } from './parts'

/** Filters by what was decided: the share that fails is that of the answers before them. */
const DECIDED = ['verdict', 'f.failed_criterion', 'f.cause', 'fails', 'status']
/** Parameters that name filters; all others say how the list is shown. */
export const isFilter = (name: string): boolean =>
  /^[df]\./.test(name) || ['verdict', 'outcome', 'fails', 'use', 'drawn', 'label', 'flag', 'tag', 'status', 'q'].includes(name)

export interface Selected extends Selection {
  facets: Facet[]
  metric: number
  sort: string
  isReversed: boolean
  rate: Rate
  /** Whether the share is that of a cell of the build. */
  isCell: boolean
}

/** Returns rows with the answers to one question together, each question where its first answer stood. */
function byQuestion(chosen: Int32Array): Int32Array {
  const questions = rows.integers('question')
  const found = new Map<number, number[]>()
  for (const row of chosen) {
    const own = found.get(questions[row]!)
    if (own) own.push(row)
    else found.set(questions[row]!, [row])
  }
  return Int32Array.from([...found.values()].flat())
}

/** Returns the filters of what the build counts in its release decision or in monitoring, if it tells. */
export function usedFor(use: 'release' | 'monitoring'): Record<string, string> {
  return page.hasUses ? { use } : {}
}

export function metricOf(params: URLSearchParams, name = 'metric'): number {
  const found = page.metrics.findIndex((metric) => metric.name === params.get(name))
  return found >= 0 ? found : page.mainMetric
}

/** Returns what the filters of the address select; null until it is decoded. */
export function useSelected(params: URLSearchParams): Selected | null {
  const metric = metricOf(params)
  const sort = params.get('sort') ?? 'worst'
  const isReversed = params.has('best')
  const words = params.get('q') ?? ''
  const sortMetric = page.metrics.findIndex((each) => each.name === sort)
  const isReady = useReady(async () => {
    await Promise.all([loadRows(), loadCells()])
    await loadMetrics([metric, page.scoreMetric, ...(sortMetric >= 0 ? [sortMetric] : [])])
  }, [metric, sortMetric])
  const [found, setFound] = useState<{ words: string; rows: Uint8Array | null }>({ words: '', rows: null })
  useEffect(() => {
    if (isReady) void search(words).then((hits) => setFound({ words, rows: hits }))
  }, [words, isReady])
  const isFound = found.words === words
  const key = params.toString()
  return useMemo(() => {
    if (!isReady || !isFound) return null
    const all = [...facets(), ...(params.has('status') ? [statusFacet(isVerdict(metric) ? page.scoreMetric : metric)] : [])]
    const sequence = sequenceOf(sort, isReversed)
    const selection = select(all, params, sequence, found.rows)
    const before = new URLSearchParams([...params].filter(([name]) => !DECIDED.includes(name)))
    const asked = before.size < params.size ? select(all, before, sequence, found.rows).chosen : selection.chosen
    const words = rows.integers(`status_${metric}`)
    // of a cell of the maps, the list says what the map says
    const cell = findCellOf([...before].filter(([name]) => isFilter(name)), metric)
    const rate =
      cell >= 0
        ? rateOf(cell)
        : rateInterval(
            asked.filter((row) => isJudged(words[row]!)),
            (row) => isFailing(words[row]!),
            rows.integers('cluster'),
            rows.numbers('weight'),
            page.confidence,
          )
    const chosen = params.has('each') ? selection.chosen : byQuestion(selection.chosen)
    return { ...selection, chosen, facets: all, metric, sort, isReversed, rate, isCell: cell >= 0 }
  }, [key, isReady, isFound])
}

/** Returns the parameters that select a cell, and nothing else. */
export function cellParams(cell: [number, number][], extra: Record<string, string> = {}): URLSearchParams {
  const params = new URLSearchParams()
  for (const [dimension, segment] of cell) {
    const { name, segments } = page.dimensions[dimension]!
    params.append(`d.${name}`, segments[segment]!)
  }
  for (const [name, value] of Object.entries(extra)) params.set(name, value)
  return params
}
