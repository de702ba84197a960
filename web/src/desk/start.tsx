import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { DeskData } from './data'
import { TEXTS } from './texts'

// The first screen: what is asked, and who rates. Named raters choose themselves, others write their name.
export function Start({ data, onBegin }: { data: DeskData; onBegin: (name: string, place: number) => void }) {
  const only = data.raters[0]
  const isNamed = only !== undefined && only.name !== ''
  const [place, choose] = useState(data.raters.length === 1 ? 0 : -1)
  const first = useRef<HTMLInputElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => (first.current ?? button.current)?.focus(), [])
  const submit = (event: Event) => {
    event.preventDefault()
    const name = (isNamed ? data.raters[place]?.name : first.current?.value.trim().split(/\s+/).join(' ')) ?? ''
    if (name) onBegin(name, place)
  }
  const mask = data.items.flatMap(({ answer, masks }) => masks.map(([start, end]) => [...answer].slice(start, end).join('')))[0]
  return (
    <main class="start">
      <p class="kicker">{data.round}</p>
      <h1>{TEXTS.title}</h1>
      <p>{TEXTS.intro}</p>
      <p>{TEXTS.order}</p>
      {data.is_masked && <p>{TEXTS.masked(mask ?? '[person]')}</p>}
      <p>{TEXTS.extent(data.items.length, data.criteria.map(({ criterion }) => criterion))}</p>
      <p>{TEXTS.kept}</p>
      <form onSubmit={submit}>
        {!isNamed && (
          <label>
            {TEXTS.yourName}
            <input ref={first} name="rater" required autoComplete="off" maxLength={100} />
          </label>
        )}
        {data.raters.length === 1 && isNamed && <p class="who">{TEXTS.rater(only.name)}</p>}
        {data.raters.length > 1 && (
          <fieldset>
            <legend>{TEXTS.whoAreYou}</legend>
            {data.raters.map((rater, index) => (
              <label key={rater.name}>
                <input ref={index === 0 ? first : null} type="radio" name="rater" required checked={place === index} onChange={() => choose(index)} />
                <span>{rater.name}</span>
                <small>{TEXTS.youRead(rater.first.length, rater.second.length)}</small>
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
