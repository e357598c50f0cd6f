import type { LoadedSettings } from '../../config/load.ts'
import type { Settings } from '../../config/settings.ts'
import { configure } from '../../gateway/configuration.ts'
import { causeOf, type Log, silentLog } from '../../lib/log.ts'
import { withTimeout } from '../../lib/time.ts'
import type { Runtime } from '../../server/runtime.ts'
import { logWarnings } from '../log.ts'
import type { ServeInput } from './output.ts'
import { CallRejected } from './workers/channel.ts'
import type { WorkerPool } from './workers/worker-pool.ts'

/**
 * Reloads the settings on SIGHUP. Invalid settings change nothing and are logged. A new address or certificate takes
 * effect at the next start.
 */
export function reloadOnSignal(
  signals: ReloadSignals,
  runtime: Runtime,
  { load, output: { context } }: Pick<ServeInput, 'load' | 'output'>,
  log: Log,
): void {
  const { environment } = context
  signals.onSignal(async () => {
    const loaded = load()
    const { settings, file } = loaded
    const { settings: earlier } = runtime.configuration()
    await runtime.reload({ settings, file, environment })
    const changed = logReload({ settings: earlier }, loaded, log)
    await recordReload(changed, runtime.process.recordReload, log)
  }, log)
}

/** Discovery delays a reload by a second. */
const reloadTimeoutMs = 30_000
/** Longer than a write waits for the database. */
const recordTimeoutMs = 30_000
/** Longer than a worker takes to start again. */
const readyTimeoutMs = 120_000

/**
 * Reloads the settings of all workers on SIGHUP. They are validated before any worker receives them; if one of them
 * rejects them nevertheless, all keep the earlier ones.
 */
export function reloadWorkersOnSignal(
  signals: ReloadSignals,
  pool: WorkerPool,
  { load, output: { context } }: Pick<ServeInput, 'load' | 'output'>,
  log: Log,
): void {
  signals.onSignal(async () => {
    const earlier = pool.loaded
    const loaded = load()
    configure({ ...loaded, environment: context.environment }, silentLog)
    try {
      pool.setLoaded(loaded)
      await reloadAll(pool, loaded)
    } catch (error) {
      pool.setLoaded(earlier)
      await reloadAll(pool, earlier)
      throw error
    }
    const record = async (changed: readonly string[]) => {
      const worker = await withTimeout(
        pool.anyReady(),
        readyTimeoutMs,
        () => new Error('No worker is ready.'),
      )
      await worker.call('recordReload', changed, recordTimeoutMs)
    }
    // It logs its own failure, and the next reload does not wait until a worker is ready.
    void recordReload(logReload(earlier, loaded, log), record, log)
  }, log)
}

/** Rejects if a worker rejects the settings; one that does not answer is replaced, and starts with the active ones. */
async function reloadAll(pool: WorkerPool, loaded: LoadedSettings): Promise<void> {
  const results = await Promise.allSettled(
    pool.ready().map((worker) =>
      worker.call('reload', loaded, reloadTimeoutMs).catch((error: unknown) => {
        if (error instanceof CallRejected) throw error
        worker.kill()
      }),
    ),
  )
  const rejected = results.find((result) => result.status === 'rejected')
  if (rejected !== undefined) throw new Error(causeOf(rejected.reason))
}

/** Receives SIGHUP from its creation on. */
export type ReloadSignals = {
  /**
   * Calls `reload` for each signal, and once for those that came before; if it rejects, the settings are unchanged, and
   * the reason is logged.
   */
  onSignal(reload: () => Promise<void>, log: Log): void
}

/** Listens for SIGHUP. Without a listener it would end the process, also one that waits for a migration. */
export function listenForReloadSignals(): ReloadSignals {
  let early = false
  let run = (): void => void (early = true)
  process.on('SIGHUP', () => run())
  return {
    onSignal(reload, log) {
      run = createReloads(reload, log)
      if (early) run()
    },
  }
}

/** Returns a function that reloads after the reload that is running, so that the later of two signals wins. */
function createReloads(reload: () => Promise<void>, log: Log): () => void {
  let lastReload = Promise.resolve()

  async function tryReload(): Promise<void> {
    try {
      await reload()
    } catch (error) {
      log.error('The settings could not be reloaded and are unchanged.', { cause: causeOf(error) })
    }
  }

  return () => void (lastReload = lastReload.then(tryReload))
}

/** Records a reload that has changed something. It is in effect even if the database is not available. */
async function recordReload(
  changed: readonly string[],
  record: Runtime['process']['recordReload'],
  log: Log,
): Promise<void> {
  try {
    if (changed.length > 0) await record(changed)
  } catch (error) {
    log.error('The reload could not be written to the audit log.', { cause: causeOf(error) })
  }
}

/** Logs which settings have changed, and warnings about them; returns the names of all that have. */
function logReload(
  before: Pick<LoadedSettings, 'settings'>,
  { settings, file, warnings }: LoadedSettings,
  log: Log,
): readonly string[] {
  const { applied, atNextStart } = settingsChanges(before.settings, settings)
  logWarnings(warnings, log)
  log.info('The settings were reloaded.', {
    file,
    changed: applied.join(', ') || 'nothing',
    at_next_start: atNextStart.length > 0 ? atNextStart.join(', ') : undefined,
  })
  return [...applied, ...atNextStart]
}

/** The settings that changed, by their paths in weir.yaml; without values, because some are secret. */
type SettingsChanges = {
  readonly applied: readonly string[]
  /** Changes that take effect at the next start. */
  readonly atNextStart: readonly string[]
}

/** True for the path of a setting whose change takes effect at the next start. */
export function takesEffectAtStart(path: string): boolean {
  return /^(host|port|workers|database|tls)\b/.test(path)
}

/** Compares two versions of the settings. */
export function settingsChanges(before: Settings, after: Settings): SettingsChanges {
  const changed = changedPaths('', toFileTree(before), toFileTree(after))
  return {
    applied: changed.filter((path) => !takesEffectAtStart(path)),
    atNextStart: changed.filter((path) => takesEffectAtStart(path)),
  }
}

type Tree = Readonly<Record<string, unknown>>

/** Returns the settings with the names of weir.yaml, and the models by slug. */
function toFileTree({ providers, models, ...rest }: Settings): Tree {
  const bySlug = Object.fromEntries(models.map((model) => [model.slug, model]))
  return { ...(toSnakeCase(rest) as Tree), providers, models: bySlug }
}

function toSnakeCase(value: unknown): unknown {
  if (!isTree(value)) return value
  const rename = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [rename(name), toSnakeCase(part)]))
}

function changedPaths(path: string, before: Tree, after: Tree): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    changedPath(path === '' ? name : `${path}.${name}`, before[name], after[name]),
  )
}

function changedPath(path: string, before: unknown, after: unknown): string[] {
  if (Bun.deepEquals(before, after)) return []
  if (before === undefined) return [`${path} (added)`]
  if (after === undefined) return [`${path} (removed)`]
  return isTree(before) && isTree(after) ? changedPaths(path, before, after) : [path]
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
