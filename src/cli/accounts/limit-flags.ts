import {
  type AllowanceChange,
  type AllowanceOwner,
  budgetPeriods,
} from '../../domain/accounting/allowance.ts'
import { type Nanos, parseUsd } from '../../lib/usd.ts'
import type { FlagValues } from '../command.ts'
import { UsageError } from '../errors.ts'

/** The flags of the limits of an organization, a project or a key. */
export const limitFlags = {
  budget: 'text',
  'budget-period': 'text',
  'budget-time-zone': 'text',
  'requests-per-minute': 'text',
  'tokens-per-minute': 'text',
  'concurrent-requests': 'text',
  models: 'text',
  enable: 'switch',
  disable: 'switch',
} as const

/** The command of each owner of limits. */
const commands = { organization: 'orgs', project: 'projects', key: 'keys' } as const

/** Returns the error of a value that a flag of the command does not accept. */
export function invalidFlag(command: string, flag: string, rule: string, text: string): UsageError {
  return new UsageError(`--${flag} must be ${rule}, not “${text}”.`, command)
}

/** Reads the flags of limits; a limit without a flag is undefined. Throws `UsageError`. */
export function readLimits(flags: FlagValues<typeof limitFlags>, owner: AllowanceOwner): AllowanceChange {
  const command = commands[owner]
  const limit = (flag: RateLimitFlag) => readRateLimit(flag, flags[flag], owner)
  return {
    budget: readBudget(flags.budget, command),
    budgetPeriod: readChoice(flags['budget-period'], command, 'budget-period', budgetPeriods),
    budgetTimeZone: flags['budget-time-zone'],
    requestsPerMinute: limit('requests-per-minute'),
    tokensPerMinute: limit('tokens-per-minute'),
    concurrentRequests: limit('concurrent-requests'),
    models: readModels(flags.models, command),
    enabled: readEnabled(flags, command),
  }
}

function readBudget(text: string | undefined, command: string): Nanos | null | undefined {
  if (text === undefined || text === 'none') return text && null
  const budget = parseUsd(text)
  if (budget !== undefined && budget >= 0n) return budget
  const rule = 'an amount of USD such as 5 or 0.50, with at most nine decimals, or none'
  throw invalidFlag(command, 'budget', rule, text)
}

/** Reads a flag that takes one of these values; undefined if it is not set. Throws `UsageError`. */
export function readChoice<Choice extends string>(
  text: string | undefined,
  command: string,
  flag: string,
  choices: readonly Choice[],
  rule = `one of ${choices.join(', ')}`,
): Choice | undefined {
  const choice = choices.find((candidate) => candidate === text)
  if (text !== undefined && choice === undefined) throw invalidFlag(command, flag, rule, text)
  return choice
}

type RateLimitFlag = 'requests-per-minute' | 'tokens-per-minute' | 'concurrent-requests'

/** The word that resets a rate limit: an organization then has that of the settings, and others have none. */
function noLimitWord(owner: AllowanceOwner): 'default' | 'none' {
  return owner === 'organization' ? 'default' : 'none'
}

function readRateLimit(
  flag: RateLimitFlag,
  text: string | undefined,
  owner: AllowanceOwner,
): number | null | undefined {
  if (text === undefined) return undefined
  const word = noLimitWord(owner)
  if (text === word) return null
  const limit = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(limit)) return limit
  throw invalidFlag(commands[owner], flag, `a whole number of at least 1, or ${word}`, text)
}

function readModels(text: string | undefined, command: string): readonly string[] | null | undefined {
  if (text === undefined) return undefined
  if (text === 'all') return null
  return readList(text, command, 'models', "models such as 'anthropic/*,openai/gpt-6-luna', all or none")
}

/** Reads a list that is separated by commas; “none” is an empty one. Throws `UsageError` with the rule for an empty entry. */
export function readList(text: string, command: string, flag: string, rule: string): readonly string[] {
  if (text === 'none') return []
  const entries = text.split(',').map((entry) => entry.trim())
  if (entries.includes('')) throw invalidFlag(command, flag, rule, text)
  return [...new Set(entries)]
}

/** Reads a list of some of these names, as `readList` does. */
export function readNames<Name extends string>(
  text: string,
  command: string,
  flag: string,
  names: readonly Name[],
  rule: string,
): readonly Name[] {
  return readList(text, command, flag, rule).map((entry) => {
    const name = names.find((candidate) => candidate === entry)
    if (name === undefined) throw invalidFlag(command, flag, rule, text)
    return name
  })
}

function readEnabled(
  { enable, disable }: { readonly enable?: boolean; readonly disable?: boolean },
  command: string,
): boolean | undefined {
  if (enable && disable) throw new UsageError(`--enable and --disable exclude each other.`, command)
  return enable ? true : disable && false
}

/** Throws `UsageError` for a change of nothing. */
export function assertChange(
  change: object,
  command: string,
  flags: Readonly<Record<string, unknown>>,
): void {
  if (Object.values(change).some((value) => value !== undefined)) return
  const names = Object.keys(flags).map((flag) => `--${flag}`)
  throw new UsageError(`weir ${command} requires at least one of: ${names.join(', ')}.`, command)
}

/** The lines of a help text about the flags of limits. */
export function limitFlagsHelp(owner: AllowanceOwner): string {
  const word = noLimitWord(owner)
  const reset =
    word === 'default' ? '“default” instead of N uses that of the settings' : '“none” for no limit'
  return `  --budget USD                   the most that requests of one period may cost, such as 5 or 0.50;
                                 no request can exceed it; “none” for no budget
  --budget-period month          when the budget is reset: each day, week or month, or none: never,
                                 which is the default
  --budget-time-zone NAME        the time zone of these periods, such as Europe/Berlin; default: UTC
  --requests-per-minute N        the rate limits; ${reset}
  --tokens-per-minute N
  --concurrent-requests N
  --models LIST                  the models that may be used: slugs, aliases or patterns such as
                                 'anthropic/*,openai/gpt-6-luna'; all, which is the default, or none
  --disable                      reject all requests with 403; --enable accepts them again
  --enable`
}

/** The flag that releases what is held of a budget. */
export const releaseHeldFlag = { 'release-held': 'switch' } as const

/** The lines of a help text about it. */
export const releaseHeldHelp = `  --release-held                 release what is held of the budget: the reservations of requests that
                                 a killed server had open, which the provider may have charged`
