// The state of a screen lives in the fragment of the address, so that a link shows what its sender sees.
import { useEffect, useState } from 'preact/hooks'

export interface Route {
  screen: string
  id: string
  params: URLSearchParams
}

export function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  const [screen = '', id = ''] = path.split(/\/(.*)/s)
  return { screen: screen || 'overview', id: decode(id), params: new URLSearchParams(query) }
}

// A link that was cut in a message is no reason to show nothing.
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function link(screen: string, id = '', params?: URLSearchParams): string {
  const query = params?.toString()
  return `#/${screen}${id && `/${encodeURIComponent(id)}`}${query ? `?${query}` : ''}`
}

export function go(address: string, replace = false): void {
  if (replace) location.replace(address)
  else location.hash = address
}

/** Returns parameters with some of them set, added or removed; an empty value removes. */
export function change(params: URLSearchParams, changes: Record<string, string | string[]>): URLSearchParams {
  const changed = new URLSearchParams(params)
  for (const [name, value] of Object.entries(changes)) {
    changed.delete(name)
    for (const each of Array.isArray(value) ? value : [value]) if (each !== '') changed.append(name, each)
  }
  return changed
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash))
  useEffect(() => {
    const read = () => setRoute(parse(location.hash))
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return route
}
