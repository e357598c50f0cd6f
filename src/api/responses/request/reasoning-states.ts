import { ReturnedStates } from '../../../domain/generation/returned-states.ts'
import { textOf } from '../../../lib/json/json.ts'
import { ValueBudget } from '../../../lib/validation/value-budget.ts'
import type { Item } from './items.ts'

/** The states in the `encrypted_content` of reasoning items. */
export function reasoningStates(items: readonly Item[]): ReturnedStates<Item> {
  return new ReturnedStates(sealsIn(items), new ValueBudget('input'))
}

function* sealsIn(items: readonly Item[]): Generator<readonly [Item, string]> {
  for (const item of items) if (item.type === 'reasoning') yield [item, textOf(item.encrypted_content) ?? '']
}
