// The blocks of the page: columns of interactions, decoded when they are needed, and texts by row group.
import { decompress } from 'fzstd'
import { parquetMetadataAsync, parquetRead, parquetReadObjects } from 'hyparquet'
import type { AsyncBuffer, FileMetaData } from 'hyparquet'
import { readBytes, readJson } from '../shared/page'
import type { Chunk, Detail, Page } from './types'

const compressors = { ZSTD: (input: Uint8Array, size: number) => decompress(input, new Uint8Array(size)) }

export type Column = Int32Array | Float32Array | string[]

/** A Parquet block of the page. */
class Block {
  private file: AsyncBuffer | undefined
  private metadata: Promise<FileMetaData> | undefined
  private readonly columns = new Map<string, Column>()

  constructor(private readonly name: string) {}

  private async open(): Promise<{ file: AsyncBuffer; metadata: FileMetaData }> {
    if (!this.file) {
      const buffer = readBytes(this.name).buffer as ArrayBuffer
      this.file = { byteLength: buffer.byteLength, slice: (start, end) => buffer.slice(start, end) }
      // what was decoded is not needed twice
      document.getElementById(this.name)?.replaceChildren()
    }
    this.metadata ??= parquetMetadataAsync(this.file)
    return { file: this.file, metadata: await this.metadata }
  }

  /** Decodes columns that are not decoded yet; those that the block does not have are left out. */
  async load(names: string[]): Promise<void> {
    const { file, metadata } = await this.open()
    const count = Number(metadata.num_rows)
    const types = new Map(metadata.schema.slice(1).map((element) => [element.name, element.type]))
    const wanted = names.filter((name) => types.has(name) && !this.columns.has(name))
    if (!wanted.length) return
    const decoded = new Map<string, Column>()
    for (const name of wanted) {
      const type = types.get(name)
      decoded.set(
        name,
        type === 'INT32' ? new Int32Array(count) : type === 'FLOAT' ? new Float32Array(count) : new Array<string>(count),
      )
    }
    await parquetRead({
      file,
      metadata,
      columns: wanted,
      compressors,
      onChunk: ({ columnName, columnData, rowStart }) => {
        const column = decoded.get(columnName)!
        for (let index = 0; index < columnData.length; index++) column[rowStart + index] = columnData[index] as never
      },
    })
    for (const [name, column] of decoded) this.columns.set(name, column)
  }

  has(name: string): boolean {
    return this.columns.has(name)
  }

  integers(name: string): Int32Array {
    return this.get(name) as Int32Array
  }

  numbers(name: string): Float32Array {
    return this.get(name) as Float32Array
  }

  texts(name: string): string[] {
    return this.get(name) as string[]
  }

  private get(name: string): Column {
    const column = this.columns.get(name)
    if (!column) throw new Error(`${this.name}.${name} was not decoded`)
    return column
  }

  /** Decodes one row; its whole row group is decoded for it. */
  async row(index: number, columns: string[]): Promise<Record<string, string>> {
    const { file, metadata } = await this.open()
    const rows = await parquetReadObjects({ file, metadata, columns, compressors, rowStart: index, rowEnd: index + 1 })
    return rows[0] as Record<string, string>
  }
}

export const page = readJson<Page>('page')
export const rows = new Block('rows')
export const texts = new Block('texts')
export const chunks = new Block('chunks')
export const cells = new Block('cells')
export const weeks = new Block('weeks')

const BASE = ['id', 'cluster', 'query', 'question', 'application', 'version', 'outcome', 'verdict', 'label', 'flags', 'tags', 'weight', 'uses', 'text']

/** Metrics that have a threshold: an interaction passes them or fails. */
export const decided = page.metrics.map((_, index) => index).filter((index) => page.metrics[index]!.threshold !== null)
/** Metrics that lists offer first. */
export const primary = page.metrics.map((_, index) => index).filter((index) => page.metrics[index]!.isPrimary)

/** Decodes what lists and filters need: segments, and whether each metric with a threshold fails. */
export async function loadRows(): Promise<void> {
  await rows.load([
    ...BASE,
    ...page.dimensions.map((_, index) => `dimension_${index}`),
    ...page.facets.map((_, index) => `facet_${index}`),
    ...decided.map((metric) => `status_${metric}`),
    ...[page.mainMetric, page.scoreMetric].flatMap((metric) => [`score_${metric}`, `status_${metric}`]),
  ])
}

/** Decodes all columns of some metrics. */
export async function loadMetrics(metrics: number[]): Promise<void> {
  await rows.load(metrics.flatMap((metric) => ['score', 'status', 'probability', 'set'].map((name) => `${name}_${metric}`)))
}

let numberOfId: Map<string, number> | undefined

/** Returns the row of an interaction, -1 if the page does not hold it. */
export function findRow(id: string): number {
  numberOfId ??= new Map(rows.texts('id').map((each, index) => [each, index]))
  return numberOfId.get(id) ?? -1
}

/** Returns what belongs to an interaction; null where its texts were left out. */
export async function readDetail(row: number): Promise<{ query: string; answer: string; detail: Detail } | null> {
  const index = rows.integers('text')[row]!
  if (index < 0) return null
  const { query = '', answer = '', detail = '' } = await texts.row(index, ['query', 'answer', 'detail'])
  return { query, answer, detail: JSON.parse(detail) as Detail }
}

/** Returns chunks by their numbers. */
export async function readChunks(numbers: number[]): Promise<Map<number, Chunk>> {
  const found = new Map<number, Chunk>()
  for (const number of new Set(numbers)) {
    found.set(number, (await chunks.row(number, ['id', 'document', 'text'])) as unknown as Chunk)
  }
  return found
}

export const codeOfStatus = (word: number): string => (word < 0 ? 'none' : page.statuses[Math.floor(word / 3)]!)
export const isFailing = (word: number): boolean => word >= 0 && word % 3 === 2
/** The verdict is a metric whose score is a word. */
export const isVerdict = (metric: number): boolean => page.metrics[metric]?.name === 'verdict'
export const isJudged = (word: number): boolean => word >= 0 && word % 3 > 0
