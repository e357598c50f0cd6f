import { Type } from 'typebox'
import { stringEnum } from '../../http/schema.ts'

/** The query parameter that selects what is near its end from a list; `which` says what that is. */
export function nearEndParameter(which: string) {
  const description = `Whether only ${which} are listed. Disabled ones, and those of a disabled owner, are not listed then.`
  return Type.Optional(stringEnum(['true', 'false'], { description }))
}

/** The time for which a request wants only what is near its end, in milliseconds since 1970; undefined if it wants all. */
export function nearEndTime(parameter: 'true' | 'false' | undefined): number | undefined {
  return parameter === 'true' ? Date.now() : undefined
}
