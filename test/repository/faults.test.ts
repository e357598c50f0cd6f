import { expect, test } from 'bun:test'
import { problemsOf } from '../faults/checkout-copy.ts'
import { faults } from '../faults/faults.ts'
import { projectFolder } from '../support/source.ts'

test('every deliberate fault can be applied to the source, and its tests exist', async () => {
  expect(faults.length).toBeGreaterThan(50)
  for (const fault of faults)
    expect([fault.name, await problemsOf(fault, projectFolder)]).toEqual([fault.name, []])
})
