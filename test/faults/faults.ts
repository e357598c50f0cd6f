import type { Fault } from './fault.ts'
import { billingFaults } from './billing-faults.ts'
import { budgetFaults } from './budget-faults.ts'
import { httpFaults } from './http-faults.ts'
import { isolationFaults } from './isolation-faults.ts'
import { processFaults } from './process-faults.ts'
import { streamFaults } from './stream-faults.ts'

/** All deliberate faults. Their numbers are their places in this list, from 1. */
export const faults: readonly Fault[] = [
  ...isolationFaults,
  ...billingFaults,
  ...processFaults,
  ...streamFaults,
  ...httpFaults,
  ...budgetFaults,
]
