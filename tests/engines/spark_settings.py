# How Spark reads and writes the tables of a stack.

PACKAGES = ["org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1", "org.apache.iceberg:iceberg-aws-bundle:1.10.1"]


def catalogue_settings(url, token, ivy):
    return {
        "spark.jars.ivy": ivy,
        "spark.jars.packages": ",".join(PACKAGES),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.millrace": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.millrace.type": "rest",
        "spark.sql.catalog.millrace.uri": f"{url}/iceberg",
        "spark.sql.catalog.millrace.token": token,
        "spark.sql.catalog.millrace.header.X-Iceberg-Access-Delegation": "vended-credentials",
        "spark.sql.catalog.millrace.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "spark.sql.defaultCatalog": "millrace",
    }
