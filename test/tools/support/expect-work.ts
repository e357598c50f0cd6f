import { expect } from 'bun:test'
import { join } from 'node:path'
import { waitUntil } from '../../support/billing-database.ts'
import { lastWord, notes } from './agent-plan.ts'
import { stepTokens } from './agent-protocols.ts'
import type { ProgramResult } from './run-program.ts'
import type { Workbench } from './workbench.ts'

/**
 * Expects that the program has done its work through this API, that no request has failed and, if it is to be `alone`,
 * that none has left the machine.
 */
export async function expectWork(
  bench: Workbench,
  result: ProgramResult,
  api: string,
  { alone = true } = {},
): Promise<void> {
  expect({ code: result.code, err: result.code === 0 ? '' : result.err }).toEqual({ code: 0, err: '' })
  expect(result.out).toContain(lastWord)
  expect(await Bun.file(join(bench.work, notes.path)).text()).toBe(`${notes.last}\n`)
  const steps = bench.provider.requests.length
  await waitUntil(() => bench.usage().length >= steps, `${steps} usage rows`)
  const rows = bench.usage()
  expect(rows).toHaveLength(steps)
  for (const row of rows) expect(row).toMatchObject(usageOf(api))
  expect((await bench.report()).total).toMatchObject({ requests: steps, failed: 0 })
  expect(failedRequests(bench)).toEqual([])
  if (alone) expect(bench.trap.hosts()).toEqual([])
}

function usageOf(api: string): object {
  const { input: prompt_tokens, output: completion_tokens } = stepTokens
  return { api, status: 200, error: null, prompt_tokens, completion_tokens }
}

/** The lines of the request log with an error, also those of requests without usage. */
export function failedRequests({ weir }: Workbench): readonly unknown[] {
  const lines = weir.output().split('\n')
  const requests = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  expect(requests).not.toEqual([])
  return requests.filter(({ status }) => status >= 400)
}
