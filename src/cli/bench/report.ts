import type { AddedLatency } from './statistics.ts'
import type { BenchResult, GatewayLatency } from './measure.ts'
import { type Column, table } from '../output.ts'

/** Formats the result as tables for the terminal. */
export function benchText({ milliseconds, processor_microseconds: cost, gateways }: BenchResult): string {
  const { reply, first_token } = milliseconds
  const rows: Row[] = [
    { name: 'response, p50', ...timesAt(reply, 'p50') },
    { name: 'response, p99', ...timesAt(reply, 'p99') },
    { name: 'first token, p50', ...timesAt(first_token, 'p50') },
    { name: 'first token, p99', ...timesAt(first_token, 'p99') },
  ]
  const times = table(rows, columns)
  if (gateways !== undefined) return `${times}\n\n${byGateway(gateways)}`
  if (cost === null) return times
  const { request, chunk } = cost
  return `${times}\n\nCPU time: ${request.toFixed(0)} µs per request, ${chunk.toFixed(1)} µs per streamed chunk.`
}

type Row = {
  readonly name: string
  readonly direct: number
  readonly through: number
  readonly added: number
}

function timesAt({ direct, through, added }: AddedLatency, at: 'p50' | 'p99') {
  return { direct: direct[at], through: through[at], added: added[at] }
}

const columns: readonly Column<Row>[] = [
  { title: 'MILLISECONDS', value: ({ name }) => name },
  { title: 'DIRECT', value: ({ direct }) => direct.toFixed(3), align: 'right' },
  { title: 'THROUGH', value: ({ through }) => through.toFixed(3), align: 'right' },
  { title: 'ADDED', value: ({ added }) => added.toFixed(3), align: 'right' },
]

function byGateway(gateways: readonly GatewayLatency[]): string {
  const sentence = `The requests were sent to ${gateways.length} addresses in turn. In milliseconds, without subtraction:`
  return `${sentence}\n\n${table(gateways, gatewayColumns)}`
}

const gatewayColumns: readonly Column<GatewayLatency>[] = [
  { title: 'ADDRESS', value: ({ gateway }) => gateway },
  { title: 'REQUESTS', value: ({ requests }) => String(requests), align: 'right' },
  { title: 'RESPONSE P50', value: ({ milliseconds }) => milliseconds.reply.p50.toFixed(3), align: 'right' },
  { title: 'P99', value: ({ milliseconds }) => milliseconds.reply.p99.toFixed(3), align: 'right' },
  {
    title: 'FIRST TOKEN P50',
    value: ({ milliseconds }) => milliseconds.first_token.p50.toFixed(3),
    align: 'right',
  },
  { title: 'P99', value: ({ milliseconds }) => milliseconds.first_token.p99.toFixed(3), align: 'right' },
]
