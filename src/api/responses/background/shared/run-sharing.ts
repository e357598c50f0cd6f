import type { RunClaims } from '../../../../storage/ports/run-claims.ts'
import type { ProcessIdentity } from '../../../../storage/ports/shared-store.ts'
import type { LiveResponses } from '../../live/live-responses.ts'
import type { RecoveryDependencies } from '../recovery.ts'

/** What background runs use that are divided among the processes of a database. */
export type RunSharing = {
  readonly process: Pick<ProcessIdentity, 'id'>
  readonly claims: RunClaims
  /** The responses of the runs in the queue of this process. */
  readonly waiting: LiveResponses
  readonly recovery: RecoveryDependencies
}
