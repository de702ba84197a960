// What the Python side writes into the page (python_udfs/hcat/explorer/document.py and tables.py).
import type { Round } from '../shared/sheet'

export interface Metric {
  name: string
  family: string
  unit: string
  description: string
  isHigherBetter: boolean
  isPrimary: boolean
  isProvisional: boolean
  threshold: number | null
  low: number | null
  high: number | null
}

export interface Dimension {
  name: string
  segments: string[]
}

export interface Gate {
  gate_name: string
  verdict: string
  severity: string
  is_passing: boolean
  reason: string
}

export interface History {
  firstSeen: string | null
  lastSeen: string | null
  confirmed: string | null
  retested: string | null
  closed: string | null
  countRuns: number | null
  countNew: number | null
  newDifference: number | null
  retestDifference: number | null
  retestLow: number | null
  retestHigh: number | null
}

export interface Finding {
  finding_id: string
  kind: string
  confirmation: string
  segment: string
  cost: string
  measurement: string
  status: string
  severity: string
  owner: string
  note: string
  difference: string
  interval: string
  unit: string
  retest: string | null
  /** null where another finding explains it, or where the latest build does not show it */
  page_rank: number | null
  labels: string
  counts: string
  metric: number
  cell: [number, number][]
  examples: string[]
  history: History | null
}

export interface Comparison {
  /** [application, version] */
  baseline: [number, number]
  candidate: [number, number]
  metric: number
  measurement: string
  verdict: string
  countPairs: number | null
  countClusters: number | null
  before: number | null
  after: number | null
  difference: number | null
  low: number | null
  high: number | null
  regressions: number | null
  improvements: number | null
}

export interface Alarm {
  metric: number
  dimension: string
  segment: string
  test: string
  detail: string
  start: string
  end: string
  weeks: number
  referenceStart: string
  referenceEnd: string
  reference: number | null
  value: number | null
  difference: number | null
  low: number | null
  high: number | null
  bandLow: number | null
  bandHigh: number | null
  q: number | null
  /** A q-value below it is an alarm. */
  level: number | null
  isDrifting: boolean
}

/** The one rate of a criterion, as every page states it. */
export interface FailureRate {
  criterion: string
  system: string
  population: string
  dimension: string
  segment: string
  count_interactions: number
  failure_rate: number
  failure_rate_lower: number | null
  failure_rate_upper: number | null
}

export interface Page {
  title: string
  run: { id: string; startedAt: string } | null
  period: string
  countClusters: number
  confidence: number
  isUnmasked: boolean
  verdict: { word: string; state: string; text: string }
  gates: Gate[]
  lines: string[]
  withoutFindings: string
  metrics: Metric[]
  /** What failing means: the verdict, where the build has one. */
  mainMetric: number
  /** The metric whose score orders the answers. */
  scoreMetric: number
  rates: FailureRate[]
  /** What the log says of speed and cost. */
  costs: string[]
  /** The systems that the build is about. */
  live: string[]
  /** The populations that their release is decided on. */
  releasedOn: string[]
  facets: Dimension[]
  /** Whether the build tells what counts in its release decision and in monitoring. */
  hasUses: boolean
  review: Review | null
  dimensions: Dimension[]
  statuses: string[]
  outcomes: string[]
  verdicts: string[]
  labels: string[]
  scales: Record<string, { point: number; label: string; text: string }[]>
  comparisons: Comparison[]
  findings: Finding[]
  alarms: Alarm[]
  /** [application, version] of each version, in the order in which they answered first */
  versionOrder: [number, number][]
  applications: string[]
  versions: string[]
  flagSets: string[][]
  tagSets: string[][]
  sampling: {
    countAll: number
    countRows: number
    countDrawn: number
    weight: number
    countTexts: number
    countTextsDrawn: number
  }
}

/** The last review round: ratings of what was drawn can be imported. */
export interface Review extends Round {
  round: string
  key: string
  cannot_judge: string
  /** interaction -> [review_id, interaction_id], as cells of the sheet */
  items: Record<string, [string, string]>
  /** interaction that was not drawn -> its id, where the page shows another one */
  ids: Record<string, string>
}

/** Where evidence stands: [rank, start, end] in characters of the chunk at that rank, or a text of its own. */
export interface Evidence {
  places?: [number, number, number][]
  text?: string
}

export interface Sentence {
  place: [number, number] | null
  text: string
  evidence: Evidence | null
  evidence_rank: number | null
  unsupported: string[]
  contradicted: string[]
  displaced: string[]
  computed: string[]
  fault_kind: string | null
  similarity: number | null
  entailment: number | null
  contradiction: number | null
  support: number | null
  signals: string
  is_least_grounded: boolean
  claims_nothing: boolean
  is_contradicted: boolean
  is_unsupported: boolean
}

export interface Context {
  /** null: relevant, and not retrieved */
  rank: number | null
  chunk: number
  score: number | null
  grade: number | null
  is_source: boolean
}

export interface Detail {
  query_id: string
  asked_at: string | null
  verdict_reason: string | null
  expected_behaviour: string | null
  refusal_rule: string
  reference_answer: string
  earlier_turns: { turn: number; query: string; answer: string }[]
  contexts: Context[]
  sentences: Sentence[]
  ratings: { criterion: string; rater_kind: string; rater: number; reading: number; is_chosen: boolean; scale_point: number | null }[]
  labels: Record<string, [number, string | null]>
  details: Record<string, string>
  causes: [string, string, string][]
  flags: { flag: string; subject: string; evidence: string }[]
  personal_data: { type: string; exposure: string; masked: string; is_leak: boolean }[]
}

export interface Chunk {
  id: string
  document: string
  text: string
}
