// Numbers as the report shows them (python_udfs/hcat/report/showing.py): three significant digits, percent with a blank.

/** Returns the name of a metric or a gate in words: `query_coverage__mean` is query coverage (mean). */
export const inWords = (name: string): string => name.replace(/__(\w+)$/, ' ($1)').replaceAll('_', ' ')

export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  if (value === 0) return '0'
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en').replace('-', '−')
  return plain(value).replace('-', '−')
}

export const formatCount = (value: number): string => Math.round(value).toLocaleString('en')

export function formatPercent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–'
  if (Math.abs(share) < 1e-12) return '0 %'
  if (share === 1) return '100 %'
  const text = plain(share * 100)
  return text === '100' && share < 1 ? '> 99.9 %' : `${text} %`.replace('-', '−')
}

export function formatPoints(difference: number | null | undefined): string {
  if (difference === null || difference === undefined || !Number.isFinite(difference)) return '–'
  const points = formatNumber(Math.abs(difference) * 100)
  return points === '0' ? points : `${difference < 0 ? '−' : '+'}${points}`
}

export function formatSigned(value: number | null | undefined): string {
  const text = formatNumber(value)
  return value !== null && value !== undefined && value > 0 ? `+${text}` : text
}

export function formatInterval(low: number, high: number, format: (value: number) => string): string {
  // a unit is said once
  return Number.isFinite(low) && Number.isFinite(high) ? `${format(low).replace(/ %$/, '')} to ${format(high)}` : ''
}

function plain(value: number): string {
  const text = value.toPrecision(3)
  return text.includes('e') ? String(Number(text)) : text.replace(/\.$/, '')
}
