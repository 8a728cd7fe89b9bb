"""Tables in a Spark cluster; the only importer of pyspark.

The rows are coded where they lie and pinned there, every pass is made by the cluster's tasks, and only what is added up
over them comes back.
"""
