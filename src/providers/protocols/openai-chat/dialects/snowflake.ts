import type { Dialect } from '../dialect.ts'

/** Snowflake never names the finish of an answer. */
export const snowflake: Dialect = { name: 'snowflake', unnamedFinish: true }
