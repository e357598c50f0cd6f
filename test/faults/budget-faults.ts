import type { Fault } from './fault.ts'

/** Faults of the budgets, the limits and the models of organizations, projects and keys. */
export const budgetFaults: readonly Fault[] = [
  {
    name: 'a reservation of all that a budget has left is rejected in SQLite',
    file: 'src/storage/sqlite/reservation-statements.ts',
    original: 'if (left < amount)',
    replacement: 'if (left <= amount)',
    tests: ['test/unit/storage/reserved-budgets.test.ts'],
  },
  {
    name: 'what killed servers hold of a budget can be spent again',
    file: 'src/storage/sqlite/reservation-statements.ts',
    original: 'return spent + reserved + held + allocated',
    replacement: 'return spent + reserved + allocated',
    tests: ['test/unit/storage/reserved-budgets.test.ts', 'test/unit/storage/budget-periods.test.ts'],
  },
  {
    name: 'a refused reservation keeps what it took from the budgets before',
    file: 'src/storage/sqlite/reservation-statements.ts',
    original: 'if (rejection !== undefined) return rejection',
    replacement: 'if (rejection !== undefined) return (take(amounts, request, payment), rejection)',
    tests: ['test/unit/storage/reserved-budgets.test.ts'],
  },
  {
    name: 'a threshold of a budget is an event with each request in SQLite',
    file: 'src/storage/sqlite/alerts.ts',
    original: 'threshold > notified || before.spent * 100n < share',
    replacement: 'true',
    tests: ['test/unit/storage/alerts.test.ts'],
  },
  {
    name: 'PostgreSQL forgets which threshold of a budget was an event',
    file: 'src/storage/postgres/budgets.ts',
    original: 'SELECT max(threshold) FROM crossed',
    replacement: 'SELECT min(threshold) - 1 FROM crossed',
    tests: ['test/unit/storage/alerts.test.ts'],
  },
  {
    name: 'PostgreSQL reserves over one budget less than apply',
    file: 'src/storage/postgres/budgets.ts',
    original: 'min(position) FILTER (WHERE used + next.amount > highest) refused',
    replacement: 'min(position) FILTER (WHERE used + next.amount > highest AND position > 1) refused',
    tests: ['test/unit/storage/reserved-budgets.test.ts'],
  },
  {
    name: 'PostgreSQL holds nothing of what a killed server had open',
    file: 'src/storage/postgres/budgets.ts',
    original: 'greatest(counted - spent, 0) ELSE 0 END) held',
    replacement: '0 ELSE 0 END) held',
    tests: ['test/unit/storage/reserved-budgets.test.ts', 'test/unit/storage/budget-periods.test.ts'],
  },
  {
    name: 'the budget of a project does not apply to its keys',
    file: 'src/gateway/access/caller-limits.ts',
    original: "...(project ? budgetOf('project', project) : []),",
    replacement: '',
    tests: ['test/api/budgets'],
  },
  {
    name: 'a deleted project has working keys',
    file: 'src/gateway/access/valid-key.ts',
    original: 'project.isDeleted || !project.limits.enabled',
    replacement: '!project.limits.enabled',
    tests: ['test/api/budgets'],
  },
  {
    name: 'the list of models of an organization does not apply',
    file: 'src/gateway/access/caller-limits.ts',
    original: 'modelLists([organization, project, parent, own])',
    replacement: 'modelLists([project, parent, own])',
    tests: ['test/api/budgets'],
  },
]
