import { causeOf, type Log } from '../lib/log.ts'
import type { RequestRecord } from './request-record.ts'
import type { RequestListener } from './request-tracker.ts'

/** Receives finished records some time after their requests. */
type RecordReader = Pick<RequestListener, 'finished'>

/** Milliseconds: how late a line of the log is. */
const batchDelayMs = 10
/** A larger batch would delay other requests by more than a millisecond. */
const maxBatched = 100

/**
 * Batches finished records for a moment, and passes them to one reader after the other: the code of a reader is cold
 * after a request, and then takes several times as long as it does for the next record. A reply waits for it only where
 * it is the last of many.
 */
export class RecordBatcher {
  readonly #readers: readonly RecordReader[]
  readonly #log: Log
  #records: RequestRecord[] = []
  #timer: Timer | undefined

  constructor(readers: readonly RecordReader[], log: Log) {
    this.#readers = readers
    this.#log = log
  }

  /** Adds a finished record. */
  add(record: RequestRecord): void {
    this.#records.push(record)
    if (this.#records.length >= maxBatched) this.flush()
    else this.#timer ??= setTimeout(this.flush, batchDelayMs)
  }

  /** Passes on the batch. */
  readonly flush = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const records = this.#records
    this.#records = []
    for (const reader of this.#readers) for (const record of records) this.#pass(record, reader)
  }

  /** Reads what the readers have made of all records up to now. */
  upToDate<Value>(read: () => Value): Value {
    this.flush()
    return read()
  }

  /** A reader that fails takes no record from the others. */
  #pass(record: RequestRecord, reader: RecordReader): void {
    try {
      reader.finished(record)
    } catch (error) {
      this.#log.error('A request could not be recorded.', { request: record.id, cause: causeOf(error) })
    }
  }
}
