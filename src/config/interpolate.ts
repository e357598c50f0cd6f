import { isObject } from '../lib/json/json.ts'
import { problemPath, type SettingsProblem } from './problem.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Replaces `${NAME}` in each string of the value by the environment variable; `$${` stands for `${`. A variable that is
 * not set is a problem, whose message shows nothing else of the string. `$NAME` is kept, with a warning.
 */
export function interpolate(
  value: unknown,
  environment: Environment,
  problems: SettingsProblem[],
  warnings: SettingsProblem[] = [],
): unknown {
  function visit(value: unknown, path: string): unknown {
    if (typeof value === 'string') {
      const warning = bracelessWarning(value, environment)
      if (warning !== undefined) warnings.push({ path, message: warning })
      return substitute(value, environment, path, problems)
    }
    if (Array.isArray(value)) return value.map((item, index) => visit(item, problemPath(path, index)))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, visit(item, problemPath(path, name))]),
    )
  }
  return visit(value, '')
}

function substitute(
  text: string,
  environment: Environment,
  path: string,
  problems: SettingsProblem[],
): string {
  return text.replace(/\$(\$?)\{([^}]*)\}?/g, (match, escape: string, name: string) => {
    if (escape !== '') return match.slice(1)
    const value = /^[A-Za-z_]\w*$/.test(name) && match.endsWith('}') ? environment[name] : undefined
    if (value) return value
    problems.push({ path, message: variableMessage(name, match) })
    return match
  })
}

/**
 * Returns a warning if the text has a `$NAME` that was probably meant as `${NAME}`. It shows the name only if it is the
 * complete text or a variable that is set: anything else may be a part of a key.
 */
function bracelessWarning(text: string, environment: Environment): string | undefined {
  const [, onlyName] = /^\$([A-Za-z_]\w*)$/.exec(text) ?? []
  const [, partName] = /(?:^|[\s:/@=])\$([A-Z][A-Z0-9_]+)\b/.exec(text) ?? []
  if (onlyName === undefined && partName === undefined) return undefined
  const name = onlyName ?? (partName !== undefined && environment[partName] !== undefined ? partName : 'NAME')
  return `contains a $ that is not followed by braces and is used literally. To use a variable, write \${${name}}.`
}

function variableMessage(name: string, match: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name) || !match.endsWith('}'))
    return 'contains a ${…} that is not a variable name. Write ${NAME}, or $${ for a literal ${.'
  return `uses the environment variable ${name}, which is not set.`
}
