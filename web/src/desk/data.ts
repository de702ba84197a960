// What the Python side writes into the page (python_udfs/hcat/explorer/desk.py).

export interface Point {
  point: number
  label: string
  text: string
}

export interface Criterion {
  criterion: string
  guideline_version: string
  points: Point[]
}

export interface Item {
  review_id: string
  interaction_id: string
  query: string
  // (title of the document, text), best first
  contexts: [string, string][]
  // beyond the number that all systems are shown with
  further: [string, string][]
  answer: string
  // (start, end) as shown and (start, end) as logged, in characters
  masks: [number, number, number, number][]
}

export interface Rater {
  name: string
  // places in items: what is read, and what is read once more at the end
  first: number[]
  second: number[]
}

export interface DeskData {
  round: string
  key: string
  columns: string[]
  cannot_judge: string
  is_masked: boolean
  // passages that are shown where systems retrieved different numbers; null = all
  count_shown: number | null
  criteria: Criterion[]
  items: Item[]
  raters: Rater[]
  review_round: string
}

// One screen: an interaction in the first or second look of a rater.
export interface Look {
  id: string
  item: Item
  pass: number
}

export function listLooks(data: DeskData, rater: Rater): Look[] {
  const looks = (places: number[], pass: number): Look[] =>
    places.flatMap((place) => {
      const item = data.items[place]
      return item ? [{ id: `${item.review_id}|${pass}`, item, pass }] : []
    })
  return [...looks(rater.first, 1), ...looks(rater.second, 2)]
}
