import type { Warning } from '../../../domain/generation/warnings.ts'
import { ignoredIn } from './lower-extras.ts'
import type { ResponseRequest } from './schema.ts'

/** Takes what the caller asked for and does not get. */
export type Warn = (warning: Warning) => void

/** Warns of what the request asks for that does not happen. */
export function warnOfIgnored(request: ResponseRequest, warn: Warn): void {
  for (const name of ignoredIn(request)) warn({ what: 'Parameter', name })
  const { truncation, include } = request
  if (truncation != null && truncation !== 'disabled') warn({ what: 'Parameter', name: 'truncation' })
  for (const name of include ?? []) warn({ what: 'Include value', name })
}
