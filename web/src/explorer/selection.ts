// What the current filters select, shared by the list and by the interaction that was opened from it.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { isFailing, isJudged, loadMetrics, loadRows, page, rows } from './data'
import { facets, search, select, sequenceOf, statusFacet } from './filter'
import type { Facet, Selection } from './filter'
import { rateInterval } from './intervals'
import type { Rate } from './intervals'
import { useReady } from './parts'

/** Parameters that name filters; all others say how the list is shown. */
export const isFilter = (name: string): boolean =>
  name.startsWith('d.') || ['verdict', 'outcome', 'fails', 'label', 'flag', 'tag', 'status', 'q'].includes(name)

export interface Selected extends Selection {
  facets: Facet[]
  metric: number
  sort: string
  isReversed: boolean
  rate: Rate
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
    await loadRows()
    await loadMetrics([metric, ...(sortMetric >= 0 ? [sortMetric] : [])])
  }, [metric, sortMetric])
  const [found, setFound] = useState<{ words: string; rows: Uint8Array | null }>({ words: '', rows: null })
  useEffect(() => {
    if (isReady) void search(words).then((hits) => setFound({ words, rows: hits }))
  }, [words, isReady])
  const isFound = found.words === words
  const key = params.toString()
  return useMemo(() => {
    if (!isReady || !isFound) return null
    const all = [...facets(), ...(params.has('status') ? [statusFacet(metric)] : [])]
    const selection = select(all, params, sequenceOf(sort, isReversed), found.rows)
    const words = rows.integers(`status_${metric}`)
    const judged = selection.chosen.filter((row) => isJudged(words[row]!))
    const rate = rateInterval(
      judged,
      (row) => isFailing(words[row]!),
      rows.integers('cluster'),
      rows.numbers('weight'),
      page.confidence,
    )
    return { ...selection, facets: all, metric, sort, isReversed, rate }
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
