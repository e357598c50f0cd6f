type Environment = Readonly<Record<string, string | undefined>>

/** Whether a terminal may be given colours: FORCE_COLOR, else NO_COLOR, else unless it is a dumb one. */
export function supportsColor({ FORCE_COLOR, NO_COLOR, TERM }: Environment): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return !NO_COLOR && TERM !== 'dumb'
}
