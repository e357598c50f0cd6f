import { createFamily, type Description, type Family, sample } from './family.ts'

/** A sum that only grows. */
export type Counter = { value: number }

export function createCounters(description: Description): Family<Counter> {
  return createFamily<Counter>(description, {
    type: 'counter',
    make: () => ({ value: 0 }),
    samples: ({ value }, name, labels) => [sample(name, labels, value)],
  })
}
