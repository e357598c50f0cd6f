import { testPages } from './support/docs-pages.ts'

testPages('docs-commands-replicas.test.ts')
