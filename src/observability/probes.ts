import type { RequestRecord } from './request-record.ts'

const probes: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz', '/metrics'])

/** Probes come every few seconds and say the same: only one that fails is of interest. */
export function uneventful(record: RequestRecord): boolean {
  return probes.has(record.reply?.path) && record.status() < 400
}
