import type { Model, Provider } from '../api/objects.ts'
import { ForeignLink } from '../components/facts.tsx'
import { Table } from '../components/table.tsx'
import { type Column, column, nameColumn } from '../components/table-columns.tsx'
import { Loaded, Section } from '../components/view.tsx'
import { routeHash } from '../route.ts'
import { useSession } from '../session.tsx'
import { type ProviderRoute, routeColumns, useProviders } from './provider-columns.tsx'

/** The routes of a model, in the order in which they are tried; for the operator with their health. */
export function ModelRoutes({ model }: { readonly model: Model }) {
  const { admin } = useSession()
  const { routes } = model
  return (
    <Section title="Routes" label="Routes of the model">
      <p class="quiet">{orderText(routes)}</p>
      {routes.length > 0 &&
        (admin === undefined ? (
          <Table label="Routes" columns={columnsOf(routes)} rows={numbered(routes)} rowKey={keyOf} />
        ) : (
          <RoutesWithHealth model={model} />
        ))}
    </Section>
  )
}

type Route = Model['routes'][number]
type Row = Route & { readonly position: number }

const numbered = (routes: readonly Route[]): readonly Row[] =>
  routes.map((route, index) => ({ ...route, position: index + 1 }))
const keyOf = ({ position }: Row) => String(position)

function orderText(routes: readonly Route[]): string {
  if (routes.length === 0) return 'No provider of this model has an API key.'
  if (routes.length === 1) return 'All requests go to this provider.'
  const order = routes.some(({ weight }) => weight !== null)
    ? 'The first route of a request is drawn by weight.'
    : 'The routes are tried in this order.'
  return `${order} If it fails before the answer begins, the next one is tried.`
}

function columnsOf(routes: readonly Route[]): readonly Column<Row>[] {
  const right = { align: 'right' } as const
  const weights = column<Row>('weight', 'Weight', ({ weight }) => weight ?? 1, right)
  return [
    nameColumn('provider', 'Provider', ({ provider }) => provider),
    column('position', 'Order', ({ position }) => position, right),
    ...(routes.some(({ weight }) => weight !== null) ? [weights] : []),
  ]
}

type HealthRow = Row & { readonly health: ProviderRoute | undefined }

function RoutesWithHealth({ model }: { readonly model: Model }) {
  return (
    <Loaded resource={useProviders()} lines={3}>
      {(value) => (
        <Table
          label="Routes"
          columns={[...columnsOf(model.routes).map(linked), ...healthColumns]}
          rows={withHealth(model, value)}
          rowKey={keyOf}
        />
      )}
    </Loaded>
  )
}

/** The operator can open the provider of a route. */
function linked(column: Column<Row>): Column<HealthRow> {
  if (column.id !== 'provider') return column
  return {
    ...column,
    render: ({ provider }) => <ForeignLink text={provider} href={routeHash('providers', [provider])} />,
  }
}

/** What the view of the provider has of a route beyond this is a click away. */
const shownColumns = ['upstream', 'circuit', 'requests', 'failures', 'error']

const healthColumns: readonly Column<HealthRow>[] = routeColumns
  .filter(({ id }) => shownColumns.includes(id))
  .map(({ id, header, align, render }) => ({
    id,
    header,
    ...(align && { align }),
    render: ({ health }: HealthRow) => (health === undefined ? '–' : render(health)),
  }))

/** A model may have several routes to a provider: they are in the same order in both lists. */
function withHealth(model: Model, providers: readonly Provider[]): readonly HealthRow[] {
  return numbered(model.routes).map((row, index, rows) => {
    const earlier = rows.slice(0, index).filter(({ provider }) => provider === row.provider).length
    const own = providers.find(({ id }) => id === row.provider)?.routes ?? []
    return { ...row, health: own.filter((route) => route.model === model.slug)[earlier] }
  })
}
