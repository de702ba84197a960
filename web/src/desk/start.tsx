import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type DeskData, listLooks, type Rater } from './data'
import { isComplete, peek, storageKey } from './progress'
import { TEXTS } from './texts'

// The first screen: what is asked, and who rates. Named raters choose themselves, others write their name.
export function Start({ data, onBegin }: { data: DeskData; onBegin: (name: string, place: number) => void }) {
  const only = data.raters[0]
  const isNamed = only !== undefined && only.name !== ''
  const [place, choose] = useState(data.raters.length === 1 ? 0 : -1)
  const [written, write] = useState('')
  const first = useRef<HTMLInputElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => (first.current ?? button.current)?.focus(), [])
  const submit = (event: Event) => {
    event.preventDefault()
    const name = (isNamed ? data.raters[place]?.name : plain(first.current?.value ?? '')) ?? ''
    if (name) onBegin(name, place)
  }
  const plain = (name: string): string => name.trim().split(/\s+/).join(' ')
  // how far a rater has come in this browser
  const describe = (rater: Rater, name: string): string => {
    const looks = listLooks(data, rater)
    const progress = peek(storageKey(data, name))
    return TEXTS.youRead(rater.first.length, rater.second.length, looks.filter((look) => isComplete(progress, look, data.criteria)).length)
  }
  const mask = data.items.flatMap(({ answer, masks }) => masks.map(([start, end]) => [...answer].slice(start, end).join('')))[0]
  return (
    <main class="start">
      <p class="kicker">{data.round}</p>
      <h1>{TEXTS.title}</h1>
      <p>{TEXTS.intro}</p>
      <p>{TEXTS.order}</p>
      {data.is_masked && <p>{TEXTS.masked(mask ?? '[person]')}</p>}
      <p>{TEXTS.extent(data.raters.length > 1 ? null : data.items.length, data.criteria.map(({ criterion }) => criterion))}</p>
      <p>{TEXTS.kept}</p>
      <form onSubmit={submit}>
        {!isNamed && (
          <label>
            {TEXTS.yourName}
            <input ref={first} name="rater" required autoComplete="off" maxLength={100} onInput={(event) => write(plain(event.currentTarget.value))} />
            {only && <small aria-live="polite">{describe(only, written)}</small>}
          </label>
        )}
        {data.raters.length === 1 && isNamed && (
          <p class="who">
            {TEXTS.rater(only.name)} <small>{describe(only, only.name)}</small>
          </p>
        )}
        {data.raters.length > 1 && (
          <fieldset>
            <legend>{TEXTS.whoAreYou}</legend>
            {data.raters.map((rater, index) => (
              <label key={rater.name}>
                <input ref={index === 0 ? first : null} type="radio" name="rater" required checked={place === index} onChange={() => choose(index)} />
                <span>{rater.name}</span>
                <small>{describe(rater, rater.name)}</small>
              </label>
            ))}
          </fieldset>
        )}
        <button class="primary" type="submit" ref={button}>
          {TEXTS.begin}
        </button>
      </form>
    </main>
  )
}
