// Rows as CSV that no spreadsheet takes for formulas.

/** Returns a cell: quoted, and with an apostrophe before what a spreadsheet would calculate. */
export function cell(value: string | number): string {
  const text = String(value)
  const safe = typeof value === 'string' && /^([\t\r\n]|\s*[=+\-@＝＋－＠])/.test(text) ? `'${text}` : text
  return /[",\n\r;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function toCsv(header: string[], lines: (string | number)[][]): string {
  return [header, ...lines].map((line) => line.map(cell).join(',')).join('\r\n') + '\r\n'
}
