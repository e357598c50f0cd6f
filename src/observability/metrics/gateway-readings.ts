import { version } from '../../../package.json'
import type { WriterFigures } from '../../storage/ports/health.ts'
import type { InFlight } from '../requests.ts'
import type { Reading } from './reading.ts'
import { labelled } from './family.ts'

/** Where the figures of the moment come from. */
export type Figures = {
  inFlight(): InFlight
  /** The routes that are left alone at the moment. */
  leftAlone(): readonly { readonly provider: string; readonly model: string }[]
  database(): WriterFigures
  /** Since the start. */
  droppedLines(): number
  droppedSpans(): number
  /** Bytes that requests in flight hold. */
  memory(): number
  /** Runs in the background. */
  runs(): { readonly queued: number; readonly running: number }
}

/** What the gateway tells of itself at the moment. */
export function gatewayReadings(figures: Figures): readonly Reading[] {
  const { inFlight, leftAlone, database, droppedLines, droppedSpans, memory, runs } = figures
  return [
    {
      name: 'weir_build_info',
      help: 'The version, as a label.',
      type: 'gauge',
      read: () => [[labelled({ version }), 1]],
    },
    kinds('weir_in_flight', 'Requests, calls to models, and streams among them, at the moment.', () => ({
      ...inFlight(),
    })),
    kinds('weir_background_runs', 'Runs in the background, at the moment.', () => runs()),
    {
      name: 'weir_memory_in_flight_bytes',
      help: 'Bytes of request bodies, conversations and pages in memory.',
      type: 'gauge',
      read: () => [['', memory()]],
    },
    {
      name: 'weir_breaker_open',
      help: '1 while a route is out after failures: it is skipped where the model has another route.',
      type: 'gauge',
      read: () => leftAlone().map(({ provider, model }) => [labelled({ provider, model }), 1]),
    },
    ...databaseReadings(database),
    total('weir_log_lines_dropped_total', 'Lines of requests that nobody read in time.', droppedLines),
    total('weir_trace_spans_dropped_total', 'Spans that nobody took in time.', droppedSpans),
  ]
}

function databaseReadings(figures: () => WriterFigures): readonly Reading[] {
  return [
    {
      name: 'weir_database_writes_waiting',
      help: 'Writes that are not on disk yet.',
      type: 'gauge',
      read: () => [['', figures().waiting]],
    },
    total('weir_database_commits_total', 'Transactions that are on disk.', () => figures().commits),
    total('weir_database_commit_seconds_total', 'Time that they took.', () => figures().seconds),
    total('weir_database_rollbacks_total', 'Transactions that were undone.', () => figures().failed),
  ]
}

function total(name: string, help: string, value: () => number): Reading {
  return { name, help, type: 'counter', read: () => [['', value()]] }
}

function kinds(name: string, help: string, values: () => Readonly<Record<string, number>>): Reading {
  const read = () => Object.entries(values()).map(([kind, value]) => [labelled({ kind }), value] as const)
  return { name, help, type: 'gauge', read }
}
