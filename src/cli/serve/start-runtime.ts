import type { LoadedSettings } from '../../config/load.ts'
import type { Log } from '../../lib/log.ts'
import { createFailureNotes } from '../../observability/request-log/failure-notes.ts'
import type { LogOutput } from '../../observability/request-log/request-log.ts'
import { createRuntime, type Runtime, type RuntimeInput } from '../../server/runtime.ts'
import { databaseLocation } from '../../storage/database-location.ts'
import type { CliContext } from '../context.ts'
import { compileFromNowOn } from './jit-policy.ts'
import type { ServeOutput } from './output.ts'

/** The output of the request log, which asks the runtime what to log. */
export type RequestLines = LogOutput & { setRuntime(started: Runtime): void }

/** Returns the output of the request log. If it shares a terminal with the log, a failure is reported once. */
export function createRequestLines({ context, requests }: ServeOutput, json: boolean): RequestLines {
  const { terminal, errTerminal } = context
  let runtime: Runtime | undefined
  const setRuntime = (started: Runtime) => void (runtime = started)
  if (terminal === undefined || json) return { sink: requests, readable: false, setRuntime }
  const requestsAreLogged = () => runtime?.configuration().settings.log !== 'off'
  const notes = errTerminal && createFailureNotes(requestsAreLogged)
  return { sink: requests, readable: true, color: terminal.color, ...(notes && { notes }), setRuntime }
}

/** Milliseconds: it is not to delay the first reply to a check of readiness. */
const warmUpDelayMs = 100

/** Creates the runtime of these settings; its warm-up, a moment later, ends the start of the process. */
export async function startRuntime(
  loaded: LoadedSettings,
  { environment }: CliContext,
  log: Log,
  requestLines: RequestLines,
  options: Partial<RuntimeInput> = {},
): Promise<Runtime> {
  const { settings, file } = loaded
  const database = databaseLocation(loaded)
  const runtime = await createRuntime({
    settings,
    file,
    environment,
    database,
    log,
    requestLines,
    ...options,
  })
  requestLines.setRuntime(runtime)
  setTimeout(() => void runtime.warmUp().finally(compileFromNowOn), warmUpDelayMs).unref()
  return runtime
}

/** Requests that arrive while the database is being opened wait for it. */
export function fetchWhenStarted(starting: Promise<Runtime>): Pick<Runtime, 'fetch'> {
  let runtime: Runtime | undefined
  void starting.then((started) => (runtime = started))
  return {
    fetch: (request) =>
      runtime ? runtime.fetch(request) : starting.then((started) => started.fetch(request)),
  }
}
