// What the Python side wrote into the page: JSON and Parquet in script elements that are data, not code.

export function readJson<T>(id: string): T {
  const element = document.getElementById(id)
  if (!element) throw new Error(`the page has no data block ${id}`)
  return JSON.parse(element.textContent ?? '') as T
}

export function readBytes(id: string): Uint8Array {
  const element = document.getElementById(id)
  if (!element) throw new Error(`the page has no data block ${id}`)
  const text = atob((element.textContent ?? '').trim())
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index)
  return bytes
}
