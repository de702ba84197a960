// Single keys of the desk. They rest while the rater writes, while Ctrl, Alt or Meta is down, and where they are off.

import { options } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

// A key acts on what the key before it did, however fast they come.
options.debounceRendering = (render) => render()

export type Keys = Record<string, () => void>

export function useKeys(keys: Keys, areOn: boolean): void {
  const current = useRef<Keys>(keys)
  current.current = keys
  useEffect(() => {
    if (!areOn) return
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return
      if (target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement) return
      // a long answer scrolls
      if (/^Arrow(Up|Down)$/.test(event.key) && target.tabIndex === 0 && target.scrollHeight > target.clientHeight) return
      const key = event.shiftKey && event.key.startsWith('Arrow') ? `Shift+${event.key}` : event.key
      const action = current.current[key.length === 1 ? key.toLowerCase() : key]
      // a focused button takes Enter itself
      if (!action || (key === 'Enter' && target instanceof HTMLButtonElement)) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [areOn])
}
