import type { Settings } from '../../config/settings.ts'

/** The settings that changed, by their paths in weir.yaml; without values, because some are secret. */
export type SettingsChanges = {
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
