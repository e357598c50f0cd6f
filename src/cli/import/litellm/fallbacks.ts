import type { Route } from '../../../config/model-details.ts'
import { problemPath } from '../../../config/problem.ts'
import { type Fields, isObject, listOf } from '../../../lib/json/json.ts'
import type { Notes } from './notes.ts'

/** The names that a model falls back to, in order. */
export type Fallbacks = {
  readonly byName: ReadonlyMap<string, { readonly targets: readonly FallbackTarget[]; readonly path: string }>
  /** Of the models that have none of their own. */
  readonly defaults: readonly FallbackTarget[]
}

export type FallbackTarget = { readonly name: string; readonly path: string }

/** Reads `fallbacks` and `default_fallbacks`; those of `router_settings` replace those of `litellm_settings`. */
export function readFallbacks(litellmSettings: Fields, routerSettings: Fields, notes: Notes): Fallbacks {
  const inRouter = routerSettings.fallbacks !== undefined && routerSettings.fallbacks !== null
  const [source, path] = inRouter
    ? ([routerSettings.fallbacks, 'router_settings.fallbacks'] as const)
    : ([litellmSettings.fallbacks, 'litellm_settings.fallbacks'] as const)
  const byName = new Map<string, { targets: readonly FallbackTarget[]; path: string }>()
  for (const [index, entry] of listOf(isObject(source) ? [source] : source).entries()) {
    const entryPath = isObject(source) ? path : problemPath(path, index)
    if (!isObject(entry)) notes.add(entryPath, 'It does not name a model and its fallbacks.')
    else
      for (const [name, targets] of Object.entries(entry))
        byName.set(name, readFallback(targets, problemPath(entryPath, name), notes))
  }
  const inDefaults = routerSettings.default_fallbacks === undefined ? 'litellm_settings' : 'router_settings'
  const defaults = (inDefaults === 'litellm_settings' ? litellmSettings : routerSettings).default_fallbacks
  return {
    byName,
    defaults: [
      ...readTargets(defaults, `${inDefaults}.default_fallbacks`, notes),
      ...(byName.get('*')?.targets ?? []),
    ],
  }
}

function readFallback(targets: unknown, path: string, notes: Notes) {
  return { targets: readTargets(targets, path, notes), path }
}

function readTargets(targets: unknown, path: string, notes: Notes): FallbackTarget[] {
  if (targets === undefined || targets === null) return []
  const list = Array.isArray(targets) ? targets.slice(0, maxTargets) : [targets]
  return list.flatMap((target, index) => {
    const targetPath = problemPath(path, index)
    if (typeof target === 'string' && target !== '') return [{ name: target, path: targetPath }]
    notes.add(targetPath, 'A fallback is the name of a model in Weir: it cannot change the request.')
    return []
  })
}

/** More fallbacks than a request could be tried with. */
const maxTargets = 20

/** Returns the routes of the fallbacks of a model; `resolve` returns those of a name, if there are any. */
export function fallbackRoutes(
  name: string,
  { byName, defaults }: Fallbacks,
  resolve: (name: string) => readonly Route[] | undefined,
  notes: Notes,
): Route[] {
  const targets = byName.get(name)?.targets ?? defaults
  const found = targets.flatMap((target) => {
    if (target.name === name) return []
    const routes = resolve(target.name)
    if (routes === undefined) notes.add(target.path, 'This fallback names no imported model.')
    return routes?.slice(0, maxRoutes) ?? []
  })
  if (found.length > maxRoutes)
    notes.add(targets[0]?.path ?? '', `Only the first ${maxRoutes} routes were imported.`)
  return found.slice(0, maxRoutes)
}

/** More routes than a request could be tried with. */
const maxRoutes = 100

/** Notes the fallbacks of names that no imported model has. */
export function noteUnusedFallbacks(
  { byName }: Fallbacks,
  isModel: (name: string) => boolean,
  notes: Notes,
): void {
  for (const [name, { path }] of byName)
    if (name !== '*' && !isModel(name)) notes.add(path, 'There is no imported model of this name.')
}
