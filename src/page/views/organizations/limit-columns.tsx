import { parseUsd } from '../../../lib/usd.ts'
import { BudgetLine } from '../../components/budget-bar.tsx'
import { Badge, Time } from '../../components/facts.tsx'
import { visibleText } from '../../components/format.ts'
import type { Column } from '../../components/table-columns.tsx'
import type { Limits } from './limits.ts'

type Limited = Limits & { readonly name: string }

/** The columns of a budget: how much of it is used, and when it is reset. */
export function budgetColumns<Row extends Limited>(): readonly Column<Row>[] {
  return [
    {
      id: 'budget',
      header: 'Budget',
      render: ({ name, budget }) =>
        budget === null ? (
          <span class="quiet">none</span>
        ) : (
          <BudgetLine label={`Budget of ${visibleText(name)}`} budget={budget} />
        ),
      sortValue: ({ budget }) => (budget === null ? null : (parseUsd(budget.left_usd) ?? null)),
    },
    {
      id: 'reset',
      header: 'Reset',
      minor: true,
      render: ({ budget }) => <Reset at={budget?.resets_at} />,
      sortValue: ({ budget }) => budget?.resets_at ?? null,
    },
  ]
}

function Reset({ at }: { readonly at: string | null | undefined }) {
  if (at === undefined) return null
  return at === null ? <span class="quiet">never</span> : <Time at={at} />
}

/** The column of the allowed models, in short. */
export function modelsColumn<Row extends Limited>(): Column<Row> {
  return {
    id: 'models',
    header: 'Models',
    minor: true,
    render: ({ models }) => <ModelsInShort models={models} />,
    sortValue: ({ models }) => models?.join(' ') ?? null,
  }
}

function ModelsInShort({ models }: Pick<Limits, 'models'>) {
  if (models === null) return <span class="quiet">all</span>
  const [first, ...others] = models
  if (first === undefined) return <Badge tone="warning">none</Badge>
  return (
    <span title={visibleText(models.join(', '))}>
      <bdi>{visibleText(first)}</bdi>
      {others.length > 0 && <span class="quiet"> and {others.length} more</span>}
    </span>
  )
}
