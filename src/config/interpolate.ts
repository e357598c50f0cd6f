import { isObject } from '../lib/json.ts'
import { problemPath } from './problem-path.ts'
import type { SettingsProblem } from './problem.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The value with `${NAME}` in each of its strings taken from the environment; `$${` stands for `${`. A
 * variable that is not set is a problem that names it, never its neighbours in the string.
 */
export function interpolate(value: unknown, environment: Environment, problems: SettingsProblem[]): unknown {
  function visit(value: unknown, path: string): unknown {
    if (typeof value === 'string') return fill(value, environment, path, problems)
    if (Array.isArray(value)) return value.map((item, index) => visit(item, problemPath(path, index)))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, visit(item, problemPath(path, name))]),
    )
  }
  return visit(value, '')
}

function fill(text: string, environment: Environment, path: string, problems: SettingsProblem[]): string {
  return text.replace(/\$(\$?)\{([^}]*)\}?/g, (all, escape: string, name: string) => {
    if (escape !== '') return all.slice(1)
    const value = /^[A-Za-z_]\w*$/.test(name) && all.endsWith('}') ? environment[name] : undefined
    if (value) return value
    problems.push({ path, message: complaintOf(name, all) })
    return all
  })
}

function complaintOf(name: string, all: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name) || !all.endsWith('}'))
    return 'holds a ${…} that is no name of a variable; write ${NAME}, or $${ for a plain ${.'
  return `takes its value from the environment variable ${name}, which is not set; set ${name}.`
}
